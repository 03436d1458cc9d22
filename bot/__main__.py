"""Entry point of `python -m bot`, the same as `vllm-digest`."""

from bot.cli.app import main

if __name__ == "__main__":
    main()
