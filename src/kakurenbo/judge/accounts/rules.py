"""Accounts and the tokens that stand for them: who may come in, and by which secret."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from kakurenbo.core import InputError, Problems
from kakurenbo.core.messages import LANGUAGES
from kakurenbo.judge.accounts.models import Token, User
from kakurenbo.judge.unhurried import unhurried
from kakurenbo.judge.unseen import is_seen

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1000
TOKEN_PREFIX = "kakurenbo_"
"""Lets people and scanners see what a text is that they found."""
FIRST_ORGANIZER = 2020
"""The advisory lock under which the first organizer comes, and under which none may go."""
_SECRET_BYTES = 32
_NOTED_EVERY = timedelta(minutes=1)


def make_first_organizer(email: str, password: str, name: str) -> User:
    """The account that the set-up page makes, while there is no other; of two at once, one is made.

    Raises
    ------
    InputError
        Where there is an account already, or the address or the password will not do.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_ORGANIZER])
        if User.objects.exists():
            raise InputError.of("accounts.there_is_an_organizer", "")
        return _make(email, password, name, is_organizer=True)


def register(email: str, password: str, name: str, language: str = "") -> User:
    """A new account, for somebody who has an invite."""
    return _make(email, password, name, language=language)


def account_problems(email: str, password: str, name: str) -> Problems:
    """Everything that is wrong with what somebody gives for an account; empty where nothing is."""
    return Problems.join(
        [_email_problems(email), _password_problems(email, password), _name_problems(name)]
    )


def change_profile(user: User, name: str, language: str) -> User:
    """Another name, and a language of the catalogue or none."""
    _name_problems(name).check()
    user.name, user.language = name.strip(), language if language in LANGUAGES else ""
    user.save(update_fields=["name", "language"])
    return user


def new_token(user: User, label: str) -> tuple[Token, str]:
    """A token of a user, and the text that is shown once: only its hash is kept.

    Raises
    ------
    InputError
        The label has characters that nobody sees.
    """
    if not is_seen(label.strip()):
        raise InputError.of("accounts.bad_label", "", column="label", value=label)
    text = TOKEN_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
    return Token.objects.create(user=user, digest=digest_of(text), label=label.strip()[:100]), text


def revoke(token: Token) -> None:
    """End a token at once; one that is revoked stays so."""
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def change_password(user: User, password: str) -> int:
    """Another password; whoever knew the old one loses the sessions and tokens, too. How many tokens were revoked."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        return Token.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def revoke_shown(text: str) -> None:
    """End the token of which this is the text."""
    Token.objects.filter(digest=digest_of(text), revoked_at=None).update(revoked_at=timezone.now())


def end_sessions(user: User, but: str = "") -> int:
    """End all sessions of a user, or all but the one with this key; how many were ended."""
    open_ones = Session.objects.filter(expire_date__gt=timezone.now()).exclude(session_key=but)
    own = [
        one.pk for one in open_ones.iterator() if one.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    return Session.objects.filter(pk__in=own).delete()[0]


def user_of_token(text: str) -> User | None:
    """Whose token this is; None where it is nobody's, is revoked, or its owner may not come in."""
    token = (
        Token.objects.select_related("user")
        .filter(digest=digest_of(text), revoked_at=None, user__is_active=True)
        .first()
    )
    if token is None:
        return None
    now = timezone.now()
    if (
        token.last_used_at is None or now - token.last_used_at >= _NOTED_EVERY
    ):  # a script that polls must not write each time
        with unhurried():
            Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


def digest_of(text: str) -> str:
    """What is kept of a secret text that is too long to be guessed: no slow hash is needed.

    Examples
    --------
    >>> digest_of("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _make(
    email: str, password: str, name: str, *, is_organizer: bool = False, language: str = ""
) -> User:
    account_problems(email, password, name).check()
    try:
        with transaction.atomic():
            user = User.objects.create_user(email, password, name=name, is_organizer=is_organizer)
            if language in LANGUAGES:
                user.language = language
                user.save(update_fields=["language"])
            return user
    except IntegrityError as error:
        raise InputError.of("accounts.address_taken", "", value=email.strip()) from error


def _email_problems(email: str) -> Problems:
    try:
        validate_email(email.strip())
    except ValidationError:
        return Problems.of("accounts.no_address", "", column="email", value=email)
    longest = User._meta.get_field("email").max_length or 0
    return (
        Problems.of("accounts.no_address", "", column="email", value=email)
        if len(email.strip()) > longest
        else Problems([])
    )


def _password_problems(email: str, password: str) -> Problems:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        return Problems.of(
            "accounts.password_length",
            "",
            column="password",
            shortest=SHORTEST_PASSWORD,
            longest=LONGEST_PASSWORD,
        )
    if password.strip().lower() in (email.strip().lower(), email.partition("@")[0].strip().lower()):
        return Problems.of("accounts.password_is_address", "", column="password")
    try:
        CommonPasswordValidator().validate(password)
    except ValidationError:
        return Problems.of("accounts.password_common", "", column="password")
    return Problems([])


def _name_problems(name: str) -> Problems:
    longest = User._meta.get_field("name").max_length or 0
    if name.strip() and len(name.strip()) <= longest and is_seen(name.strip()):
        return Problems([])
    return Problems.of("accounts.no_name", "", column="name", value=name, longest=longest)
