"""From where somebody comes, as far as a judge behind a proxy can know."""

from __future__ import annotations

import ipaddress

from django.conf import settings

_LOOPBACK = ("127.0.0.1", "::1")
_HOUSEHOLD = 64
"""Bits of an address of IPv6 that are given to one customer, who chooses the others freely."""


def address_behind(peer: str, forwarded: str) -> str:
    """The address of who asks: that of the peer, or what a proxy on this machine says of whom it speaks for.

    Parameters
    ----------
    peer : str
        Who is connected to the judge.
    forwarded : str
        The header ``X-Forwarded-For``; its last address is the proxy's own word.
    """
    if (
        settings.SECURE_PROXY_SSL_HEADER and peer in _LOOPBACK
    ):  # a proxy that speaks TLS for the judge stands on this machine
        return forwarded.rpartition(",")[2].strip() or peer
    return peer


def network_of(address: str) -> str | None:
    """What counts as one place from which passwords are guessed; None for what is no address.

    Examples
    --------
    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::7:1"), network_of("unknown")
    ('192.0.2.7', '192.0.2.7', '2001:db8::', None)
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, _HOUSEHOLD), strict=False).network_address)
