"""The allowlist: words that a text may use about any commit (keywords, well-known libraries), units and routes.

Nothing here is specific to one repository.
"""

import builtins
import collections
import keyword
import typing


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS = frozenset(
    [
        *keyword.kwlist,
        *keyword.softkwlist,
        *(name for each in (builtins, typing, collections) for name in dir(each)),
        *(name for kind in (str, bytes, int, float, list, dict, set, tuple, object) for name in dir(kind)),
        *_split(
            "static_assert NULL nullptr printf malloc free main size_t ssize_t ptrdiff_t constexpr static_cast x86_64 aarch64 bfloat16 float16"
        ),
        *_split("setUp tearDown getLogger stdout stderr stdin argv utf_8"),
    ]
)
LIBRARIES = _split(
    "torch np numpy os sys re json math time logging asyncio threading multiprocessing itertools functools collections contextlib "
    "dataclasses typing pathlib subprocess argparse unittest pytest mock triton tl transformers pandas pd scipy sklearn jax tf "
    "tensorflow ray fastapi pydantic starlette uvicorn requests httpx aiohttp grpc zmq msgspec PIL cv2 librosa soundfile std at c10 "
    "string datetime random pickle inspect warnings weakref gc ctypes yaml jinja2 click rich tqdm F nn nccl cuda console window document"
)
PRODUCTS = _split(
    "PyTorch NumPy SciPy OpenAI GitHub GitLab HuggingFace FlashAttention FlashInfer FlashMLA CUTLASS cuBLAS cuDNN cuSPARSE NCCL "
    "TensorRT TensorFlow DeepSpeed DeepGEMM DeepEP ROCm oneAPI oneDNN PyPI CPython JavaScript TypeScript PostgreSQL MySQL SQLite "
    "FastAPI GraphQL gRPC WebSocket WebAssembly macOS iOS DevOps DevEx YAML JSON OAuth LoRA QLoRA MoE RoPE LayerNorm RMSNorm "
    "Node.js Vue.js Next.js React.js Three.js Nuxt.js D3.js Express.js Nest.js Electron.js TorchScript TorchDynamo TorchInductor "
    "CuPy PyArrow OpenCV OpenMP OpenMPI OpenCL OpenTelemetry GitOps LaTeX"
)
# Methods and variables that advice may mention for any commit.
CUSTOMARY = _split(
    "state_dict load_state_dict requires_grad grad_fn zero_grad from_numpy to_numpy astype data_ptr element_size is_contiguous no_grad copy_ fill_ zero_ add_ mul_ "
    "inference_mode empty_cache all_reduce all_gather reduce_scatter all_to_all max_new_tokens from_pretrained save_pretrained "
    "add_argument raise_for_status extra_body chat_template trust_remote_code huggingface_hub site_packages py_modules "
    "CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES LD_LIBRARY_PATH LD_PRELOAD PYTHON_PATH HF_HOME HF_TOKEN NCCL_DEBUG OMP_NUM_THREADS"
)
COMMANDS = _split(
    "git gh pip pip3 uv npm yarn pnpm cargo go docker kubectl helm pytest mypy ruff pre-commit tox make cmake apt apt-get conda "
    "nvidia-smi rocm-smi nsys ncu curl wget grep"
)
# One-letter and ambiguous ones (.m, .in, .lock, .patch, .map) are left out: they are attributes more often than files.
EXTENSIONS = sorted(
    _split(
        "py pyi pyx c cc cpp cxx cu cuh h hh hpp inl inc rs go java kt scala js jsx ts tsx mjs cjs rb php cs swift sh bash zsh ps1 bat lua sql proto "
        "thrift vue svelte zig md mdx rst adoc txt ipynb yaml yml toml json jsonl ini cfg conf cmake jinja jinja2 j2 html css scss csv xml svg png "
        "jpg gif bazel gradle tpl"
    )
)
# Extensions that are never attribute names.
PLAIN_EXTENSIONS = _split("py pyi md txt yaml yml toml sh cpp cuh ipynb")
FOLDERS = _split(
    "src lib libs include app apps pkg packages cmd internal core csrc tests test testing docs doc examples example samples benchmarks "
    "benchmark tools scripts requirements docker cmake .github .buildkite .circleci .ci config configs third_party vendor"
)
MACHINE_FOLDERS = _split("usr etc dev tmp var opt home root proc sys mnt bin lib lib64 data workspace run srv")
ROUTES = tuple(
    f"v{version}/{name}"
    for version in (1, 2, 3)
    for name in (
        "chat",
        "completions",
        "embeddings",
        "models",
        "audio",
        "responses",
        "messages",
        "images",
        "score",
        "rerank",
    )
)
TOP_LEVEL_DOMAINS = sorted(
    _split(
        "com org net io ai dev app co cn info xyz gg ly edu gov biz top site online link club page cloud tech store shop pro fun "
        "live me ru tk us uk de fr jp eu tv"
    )
)
# The names of each unit. Words of more than one letter match in any case.
UNITS = {
    "%": "%|[(]%[)]|pct|percent|percentage points?|个百分点",
    "x": r"[xX](?![ ]?[A-Z\d])|×(?![ ]?[A-Z\d])|倍|-?fold\b|times (?:faster|slower|more|less|higher|lower|fewer)|times the",
    "ns": "ns|nanoseconds?|纳秒",
    "us": "us|µs|μs|microseconds?|微秒",
    "ms": "ms|msecs?|milliseconds?|毫秒",
    "s": "s|secs?|seconds?|秒钟?",
    "min": "mins?|minutes?|分钟",
    "h": "h|hrs?|hours?|小时",
    "KB": "KB|KiB|千字节",
    "MB": "MB|MiB|兆字节?",
    "GB": "GB|GiB|吉字节",
    "TB": "TB|TiB",
    "GB/s": "[KMGT]i?B/s",
    "tokens/s": "tok(?:en)?s?/s(?:ec)?|tokens? per second|tokens?/秒",
    "requests/s": "req(?:uest)?s?/s(?:ec)?|requests? per second|QPS|RPS",
    "FLOPS": "[KMGTP]?FLOPS?(?:/s)?",
}
