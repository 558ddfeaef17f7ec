"""The arena: plays any rulebook with any players, on any executor."""

from kakurenbo.arena.play import Played, Player, play

__all__ = ["Played", "Player", "play"]
