"""A GitHub server on 127.0.0.1 that serves recorded commits."""

from loopback.github.rest import Recorded, RecordedRepository, Reply
from loopback.github.server import Handler, LoopbackGitHub
