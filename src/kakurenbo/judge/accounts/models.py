"""An account is an e-mail address; a token lets a program act for its owner."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower


class UserManager(BaseUserManager["User"]):
    """Makes accounts; addresses that differ in case are one."""

    def create_user(
        self, email: str, password: str, *, name: str = "", is_organizer: bool = False
    ) -> User:
        user = self.model(email=email.strip().lower(), name=name.strip(), is_organizer=is_organizer)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser):
    """Somebody who can log in.

    Attributes
    ----------
    is_organizer : bool
        May hold contests, and sees everything of them that is not sealed.
    language : str
        ``en`` or ``ja``; empty to follow the browser.
    """

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=2, blank=True)
    is_organizer = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("email"), name="one_account_per_address")
        ]

    def __str__(self) -> str:
        return self.name or self.email


class Token(models.Model):
    """A secret that stands for its owner in programs; only its hash is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.label
