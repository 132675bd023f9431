"""Reviewed tables of names: import → distribution, conda package → distribution.

A name that is not listed stays unknown and is reported. Guessing that an import is called
like a distribution would let whoever registers a look-alike name run code here.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from packaging.utils import canonicalize_name

_SAME_NAME_TEXT = """
absl-py accelerate aiohttp albumentations altair arviz asteval astropy astroquery autograd
beartype biopython bokeh boto3 bottleneck cartopy catboost cftime chainer chardet click
cloudpickle cmdstanpy cobra colorama control corner cupy cvxopt cvxpy cycler cython dask
datasets deap decorator dgl diffusers dill distributed docopt ecos einops emcee evaluate fastapi
fastprogress filelock fiona flair flask flax fsspec gensim geopandas geopy gitpython gpy
gpytorch graphviz gym gymnasium h5py healpy hmmlearn holoviews huggingface-hub humanize
hydra-core hyperopt idna imageio imbalanced-learn iminuit ipykernel ipython ipywidgets jax
jaxlib jieba jinja2 joblib jsonschema jupyter jupyterlab keras kiwisolver langdetect librosa
lifelines lightgbm lightning lime lmfit loguru lxml markdown matplotlib mesa mlflow mlxtend mne
mpi4py mpmath msgpack multiprocess natsort nbconvert nbformat netcdf4 networkx nevergrad nibabel
nilearn nltk notebook numba numexpr numpy numpyro ogb openml openpyxl optax optuna orjson osqp
packaging pandas papermill pathos patsy peft petsc4py pillow pingouin plotly plotnine pluggy
pmdarima polars pooch protobuf psutil psycopg2 pulp pyarrow pybind11 pycocotools pydantic pydot
pyfftw pygad pyglet pygments pymc pymc3 pymongo pyod pyomo pyparsing pyproj pyro-ppl pyserial pystan
pytest python-dateutil pytorch-lightning pytz pywavelets pyyaml pyzmq qutip rasterio ray rdkit
regex requests rich river rpy2 ruptures sacrebleu sacremoses safetensors scanpy scikit-image
scikit-learn scikit-optimize scipy seaborn sentence-transformers sentencepiece shap shapely
simpy six skorch skyfield smart-open snakemake sortedcontainers spacy sqlalchemy
stable-baselines3 statsmodels sympy tables tabulate tensorboard tensorboardx tensorflow
tensorflow-datasets tensorflow-hub tensorflow-probability termcolor textblob theano
threadpoolctl tifffile timm tokenizers toml tomli toolz torch torchaudio torchmetrics torchtext
torchvision tornado tqdm traitlets transformers trimesh tslearn typing-extensions ujson
umap-learn unidecode urllib3 vadersentiment visdom vispy wandb werkzeug wordcloud xarray xgboost
xlrd xlsxwriter yacs yfinance zarr anthropic bitsandbytes deepspeed fire gdown jiwer openai
tiktoken trl typer tyro wilds xformers zstandard museval soundfile easydict cdsapi horovod
"""

SAME_NAME = frozenset(_SAME_NAME_TEXT.split())
"""Distributions that are imported by their own name (dashes as underscores), or that conda
calls so."""

IMPORTS = {
    "absl": "absl-py",
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "Cython": "cython",
    "GPy": "gpy",
    "IPython": "ipython",
    "MDAnalysis": "mdanalysis",
    "OpenGL": "pyopengl",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "rouge_score": "rouge-score",
    "PyQt5": "pyqt5",
    "PyQt6": "pyqt6",
    "PySide6": "pyside6",
    "SALib": "salib",
    "SimpleITK": "simpleitk",
    "arch": "arch",
    "attr": "attrs",
    "attrs": "attrs",
    "bs4": "beautifulsoup4",
    "cleanfid": "clean-fid",
    "community": "python-louvain",
    "configobj": "configobj",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "gurobipy": "gurobipy",
    "haiku": "dm-haiku",
    "hydra": "hydra-core",
    "igraph": "igraph",
    "imblearn": "imbalanced-learn",
    "jwt": "pyjwt",
    "kornia": "kornia",
    "leidenalg": "leidenalg",
    "Levenshtein": "levenshtein",
    "louvain": "louvain",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "multipart": "python-multipart",
    "netCDF4": "netcdf4",
    "omegaconf": "omegaconf",
    "OpenEXR": "openexr",
    "openTSNE": "opentsne",
    "ot": "pot",
    "pylab": "matplotlib",
    "pkg_resources": "setuptools",
    "prettytable": "prettytable",
    "psycopg2": "psycopg2-binary",
    "pulp": "pulp",
    "pyro": "pyro-ppl",
    "pywt": "pywavelets",
    "ruamel": "ruamel.yaml",
    "seqeval": "seqeval",
    "serial": "pyserial",
    "skbio": "scikit-bio",
    "skgarden": "scikit-garden",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "sklearn_crfsuite": "sklearn-crfsuite",
    "skopt": "scikit-optimize",
    "sksurv": "scikit-survival",
    "slugify": "python-slugify",
    "sparse": "sparse",
    "stable_baselines3": "stable-baselines3",
    "tensorboardX": "tensorboardx",
    "thefuzz": "thefuzz",
    "torch_geometric": "torch-geometric",
    "torch_scatter": "torch-scatter",
    "torch_sparse": "torch-sparse",
    "umap": "umap-learn",
    "usb": "pyusb",
    "vaderSentiment": "vadersentiment",
    "websocket": "websocket-client",
    "wget": "wget",
    "Xlib": "python-xlib",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Imports whose distribution has another name, or whose name has capitals."""

ALIASES = {
    "pil": "pillow",
    "python-opencv": "opencv-python",
    "sklearn": "scikit-learn",
}
"""Names often written in requirements that are not the distribution that is meant."""

CONDA = {
    "beautifulsoup4": "beautifulsoup4",
    "dask-core": "dask",
    "faiss-cpu": "faiss-cpu",
    "faiss-gpu": "faiss-gpu",
    "importlib_metadata": "importlib-metadata",
    "libxgboost": "xgboost",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "opencv": "opencv-python",
    "pot": "pot",
    "psycopg2": "psycopg2-binary",
    "py-opencv": "opencv-python",
    "py-xgboost": "xgboost",
    "py-xgboost-cpu": "xgboost",
    "pyqt": "pyqt5",
    "pytables": "tables",
    "python-graphviz": "graphviz",
    "python-igraph": "igraph",
    "python-louvain": "python-louvain",
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "pyg": "torch-geometric",
    "ruamel.yaml": "ruamel.yaml",
    "seaborn-base": "seaborn",
    "tensorflow-base": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "torchvision": "torchvision",
    "attrs": "attrs",
    "certifi": "certifi",
    "importlib-metadata": "importlib-metadata",
    "markupsafe": "markupsafe",
    "zipp": "zipp",
}
"""conda packages whose distribution has another name or that only appear in exported lists."""

_CONDA_SYSTEM_TEXT = """
_libgcc_mutex _openmp_mutex blas brotli bzip2 c-ares ca-certificates cairo cpuonly cuda
cuda-toolkit cudatoolkit cudatoolkit-dev cudnn dbus expat ffmpeg fontconfig freetype gcc gdal
gettext gfortran glib gmp gnutls graphite2 graphviz gst-plugins-base gstreamer gxx harfbuzz hdf5
icu intel-openmp jpeg krb5 lame lcms2 ld_impl_linux-64 lerc libblas libcblas libcublas libcufft
libcurand libcurl libcusolver libcusparse libdeflate libedit libev libffi libgcc libgcc-ng
libgfortran libgfortran-ng libgomp libiconv libidn2 liblapack liblapacke libnetcdf libnghttp2
libnpp libnvjpeg libopenblas libpng libprotobuf libsodium libssh2 libstdcxx libstdcxx-ng
libtasn1 libtiff libunistring libuuid libuv libwebp libwebp-base libxcb libxml2 libxslt
llvm-openmp lz4-c mkl mkl-service mkl_fft mkl_random mpfr mpi mpich nccl ncurses nettle ninja
nodejs numpy-base nvidia openblas openh264 openjpeg openmpi openssl pandoc pcre pcre2 pip pixman
pthread-stubs python python_abi pytorch-cuda pytorch-mutex qhull qt qt-main r-base readline
setuptools sip snappy sqlite tbb tk unixodbc wheel x264 xorg-libxau xorg-libxdmcp xz yaml zeromq
zlib zstd
"""

CONDA_SYSTEM = frozenset(_CONDA_SYSTEM_TEXT.split())
"""conda packages that hold no Python distribution: compilers, system and GPU libraries."""

_FORMER_TEXT = """
BaseHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer StringIO
Tkinter __builtin__ anydbm asynchat asyncore binhex cPickle cStringIO cgi cgitb chunk commands
cookielib copy_reg crypt distutils dummy_thread dummy_threading formatter httplib imp
lib2to3 macpath md5 mimetools nntplib parser sets sha smtpd string symbol symtable
telnetlib thread tkFileDialog tkMessageBox ttk urllib2 urlparse xmlrpclib
"""

_FORMER = frozenset(_FORMER_TEXT.split())
"""Modules that the standard library had in an earlier Python, among them Python 2."""

_BUILD = frozenset({"setuptools"})
"""Modules that only the building of a package imports, and the building brings."""

_FAMILIES = (
    frozenset({"opencv-python", "opencv-python-headless", "opencv-contrib-python"}),
    frozenset({"opencv-contrib-python-headless", "opencv-python"}),
    frozenset({"psycopg2", "psycopg2-binary"}),
    frozenset({"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"}),
    frozenset({"faiss-cpu", "faiss-gpu"}),
    frozenset({"igraph", "python-igraph"}),
    frozenset({"python-magic", "python-magic-bin"}),
    frozenset({"pytorch-lightning", "lightning"}),
)
"""Distributions that provide the same import; one of them is enough."""

_KNOWN = {canonicalize_name(name) for name in SAME_NAME}


def is_standard(module: str) -> bool:
    """Tell whether a top-level module came with Python, of whatever version."""
    return module in sys.stdlib_module_names or module in _FORMER or module in _BUILD


def distribution_of_import(module: str) -> str | None:
    """Return the distribution that provides a top-level import, or None when it is unknown."""
    if module in IMPORTS:
        return IMPORTS[module]
    name = canonicalize_name(module)
    return name if name in _KNOWN else None


def is_covered(distribution: str, named: Collection[str]) -> bool:
    """Tell whether named distributions provide what a distribution provides for import.

    Args:
        distribution: Its normalised name.
        named: Normalised names.
    """
    alike = {name for family in _FAMILIES if distribution in family for name in family}
    return any(name in named for name in {distribution, *alike})


def distribution_of_conda(package: str) -> str | None:
    """Return the distribution for a conda package, or None when the tables do not know it."""
    lowered = package.lower()
    if lowered in CONDA:
        return CONDA[lowered]
    name = canonicalize_name(lowered)
    return name if name in _KNOWN and lowered not in CONDA_SYSTEM else None
