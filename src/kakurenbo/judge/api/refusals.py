"""What the API says where it does not do what it was asked: problems with their words in the language of the asker."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from kakurenbo.core import InputError, Problems
from kakurenbo.core.messages import text

BAD_REQUEST, UNPROCESSABLE = 400, 422
RETRY_SECONDS = 5
"""After so long, what is being made is there as a rule."""


class Gone(Exception):
    """What is asked for was deleted for good; the message is the code of the refusal."""


class Lost(Exception):
    """What is asked for is not in the store any more."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(repr(problems))
        self.problems = problems


class NotYet(Exception):
    """What is asked for is being made; the message is the code of the refusal."""


def all_there(lost: Problems) -> None:
    """Go on where no file is lost; else the files that are become the answer."""
    if lost:
        raise Lost(lost)


def not_there() -> NoReturn:
    """There is nothing, or nothing that the asker may know of: both sound the same."""
    raise HttpError(404, "missing")


def refusal(code: str, problems: Problems | None = None) -> dict[str, Any]:
    """Every refusal, whatever refuses: a code for programs, a sentence for people, and problems where the rules name some."""
    listed = [] if problems is None else [problem.as_json() for problem in problems]
    total = 0 if problems is None else problems.total
    return {
        "error": code,
        "message": text(f"judge_api.{code}"),
        "problems": listed,
        "problem_count": total,
    }


def add_refusals(api: NinjaAPI) -> None:
    """Teach an API to answer refusals."""

    def answer(
        request: HttpRequest, status: int, code: str, problems: Problems | None = None
    ) -> HttpResponse:
        return api.create_response(request, refusal(code, problems), status=status)

    @api.exception_handler(InputError)
    def refused(request: HttpRequest, error: InputError) -> HttpResponse:
        return answer(request, UNPROCESSABLE, "refused", error.problems)

    @api.exception_handler(AuthenticationError)
    def no_such_token(request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
        return answer(request, 401, "token")

    @api.exception_handler(PermissionDenied)
    def forbidden(request: HttpRequest, _error: PermissionDenied) -> HttpResponse:
        return answer(request, 403, "forbidden")

    @api.exception_handler(Gone)
    def gone(request: HttpRequest, error: Gone) -> HttpResponse:
        return answer(request, 410, str(error))

    @api.exception_handler(Lost)
    def lost(request: HttpRequest, error: Lost) -> HttpResponse:
        return answer(request, 500, "lost", error.problems)

    @api.exception_handler(NotYet)
    def not_yet(request: HttpRequest, error: NotYet) -> HttpResponse:
        made = answer(request, 409, str(error))
        made.headers["Retry-After"] = str(RETRY_SECONDS)
        return made

    @api.exception_handler(HttpError)
    def other(request: HttpRequest, error: HttpError) -> HttpResponse:
        code = (
            "malformed" if error.status_code == BAD_REQUEST else str(error)
        )  # a body that cannot be read: not our words
        return answer(request, error.status_code, code)

    @api.exception_handler(ValidationError)
    def malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
        places = [".".join(map(str, one["loc"])) for one in error.errors]
        wrong = [Problems.of("api.bad_field", "", column=place) for place in places]
        return answer(request, UNPROCESSABLE, "malformed", Problems.join(wrong))
