"""`python -m bot` is `vllm-digest`."""

from bot.cli.app import main

if __name__ == "__main__":
    main()
