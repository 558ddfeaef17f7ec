"""Django's settings: everything comes from the environment that ``serve`` makes for its processes.

``KAKURENBO_JUDGE_HOME`` is the judge's folder, ``DATABASE_URL`` a PostgreSQL of one's own, ``KAKURENBO_JUDGE_DSN`` the embedded
one, ``KAKURENBO_JUDGE_URL`` the address under which people reach it: with ``https`` cookies and redirects are strict.
``KAKURENBO_JUDGE_S3_BUCKET`` keeps files in an S3-compatible store instead of the folder; its address and keys are read from
the variables that boto3 knows. Keys for secrets alone, which the web does without, come by ``parts.use_secret_keys``.
``KAKURENBO_JUDGE_LOG`` is the form of the log, ``KAKURENBO_JUDGE_METRICS_TOKEN`` what somebody elsewhere shows to see the
figures of ``/metrics``.
"""

from __future__ import annotations

import os
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _
from psycopg.conninfo import conninfo_to_dict

from kakurenbo.judge.operations import logs

HOME = Path(os.environ.get("KAKURENBO_JUDGE_HOME", "kakurenbo-judge"))
PUBLIC_URL = os.environ.get("KAKURENBO_JUDGE_URL", "http://127.0.0.1:8020")
_HOST = urlsplit(PUBLIC_URL).hostname or "127.0.0.1"
_HTTPS = urlsplit(PUBLIC_URL).scheme == "https"
_YEAR = 365 * 24 * 3600
# Of a database on another machine: whoever is cut off from it finds out in less than a lease lasts.
_PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "5",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",  # milliseconds
}

RETAIN_DAYS = int(
    os.environ.get("KAKURENBO_JUDGE_RETAIN_DAYS", "30")
)  # of records of access, and of files after an end
SHOW_REHEARSALS = bool(os.environ.get("KAKURENBO_JUDGE_SHOW_REHEARSALS"))  # to everybody, in a demo
METRICS_TOKEN = os.environ.get("KAKURENBO_JUDGE_METRICS_TOKEN", "").strip()
SECRET_KEY = os.environ.get("KAKURENBO_JUDGE_SECRET_KEY", "")
DEBUG = False
ALLOWED_HOSTS = [_HOST, *(["localhost", "127.0.0.1", "[::1]"] if not _HTTPS else [])]
CSRF_TRUSTED_ORIGINS = [f"{urlsplit(PUBLIC_URL).scheme}://{urlsplit(PUBLIC_URL).netloc}"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "axes",
    "django_htmx",
    "procrastinate.contrib.django",
    "kakurenbo.judge.accounts.apps.AccountsConfig",
    "kakurenbo.judge.contests.apps.ContestsConfig",
    "kakurenbo.judge.submissions.apps.SubmissionsConfig",
    "kakurenbo.judge.scoring.apps.ScoringConfig",
    "kakurenbo.judge.trust.apps.TrustConfig",
    "kakurenbo.judge.operations.apps.OperationsConfig",
    "kakurenbo.judge.pages",
]
AUTH_USER_MODEL = "accounts.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def _database() -> dict[str, Any]:
    given = conninfo_to_dict(
        os.environ.get("DATABASE_URL") or os.environ.get("KAKURENBO_JUDGE_DSN", "")
    )
    fields = {
        "dbname": "NAME",
        "user": "USER",
        "password": "PASSWORD",
        "host": "HOST",
        "port": "PORT",
    }
    known = {fields[key]: value for key, value in given.items() if key in fields}
    options = {key: value for key, value in given.items() if key not in fields}
    if os.environ.get("DATABASE_URL"):
        options = {**_PATIENCE, **options}
    return {"ENGINE": "django.db.backends.postgresql", "OPTIONS": options, **known}


def _store(name: str) -> dict[str, Any]:
    """Where bytes of one visibility lie: the open store and the secret one never share a place."""
    bucket = os.environ.get("KAKURENBO_JUDGE_S3_BUCKET")
    if bucket:
        made = import_module("botocore.config").Config  # there where a bucket can be used
        patience = made(connect_timeout=10, read_timeout=60, retries={"total_max_attempts": 3})
        options: dict[str, Any] = {
            "bucket_name": bucket,
            "location": name,
            "file_overwrite": False,
            "querystring_auth": True,
        }
        options["client_config"] = patience
        return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    options = {
        "location": HOME / name,
        "file_permissions_mode": 0o600,
        "directory_permissions_mode": 0o700,
    }
    return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}


DATABASES = {"default": _database()}
STORAGES = {
    "default": _store("files"),
    "secret": _store("secret"),
    "staticfiles": {"BACKEND": "kakurenbo.judge.serve.static.VersionedFiles"},
}

PASSWORD_HASHERS = ["kakurenbo.judge.accounts.hashing.SizedArgon2"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]

ROOT_URLCONF = "kakurenbo.judge.serve.urls"
LOGIN_URL = "/login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
APPEND_SLASH = False
MIDDLEWARE = [
    "kakurenbo.judge.serve.middleware.LocalProbes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "kakurenbo.judge.operations.watching.RouteNotes",
    "kakurenbo.judge.serve.middleware.PersonalAnswers",
    "kakurenbo.judge.serve.middleware.HeadLikeGet",
    "kakurenbo.judge.pages.middleware.LanguageMiddleware",
    "kakurenbo.judge.api.middleware.JsonRefusals",
    "kakurenbo.judge.pages.middleware.NothingUnstorableMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "kakurenbo.judge.pages.middleware.WordedRefusalsMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent.parent / "pages" / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "kakurenbo.judge.pages.context.look",
            ],
        },
    }
]

# Static files are served from the packages that have them, under addresses that change with their content.
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = _YEAR
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Nothing from elsewhere, nothing inline: scripts, styles and pictures are files of ours.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _HTTPS
SECURE_SSL_REDIRECT = _HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health$"]  # asked on this machine, without a proxy in front
SECURE_HSTS_SECONDS = _YEAR if _HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
# Whether other hosts under the same domain speak HTTPS too is not for the judge to promise (HSTS subdomains and preload).
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# A form is small; files come by the intake, or in pieces that Django puts on disk.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20
DATA_UPLOAD_MAX_NUMBER_FILES = 400
FILE_UPLOAD_MAX_MEMORY_SIZE = 2**18
FILE_UPLOAD_PERMISSIONS = 0o600

AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_FORM_FIELD = "username"  # as ``authenticate`` is called; else failures are kept without the account they were at
AXES_LOCKOUT_CALLABLE = "kakurenbo.judge.pages.views.accounts.locked_out"
AXES_HANDLER = "kakurenbo.judge.accounts.guessing.Guessing"
AXES_CLIENT_IP_CALLABLE = "kakurenbo.judge.accounts.guessing.address_of"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # a lock is over when its answer said so
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address"]
AXES_VERBOSE = False

LOGGING = logs.configuration(os.environ.get("KAKURENBO_JUDGE_LOG", logs.TEXT))
