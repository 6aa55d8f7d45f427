"""A TCP proxy between a node and a server, which can be slow, deaf, or cut."""

import asyncio
import contextlib
import socket
import struct
import threading

import processes

_LINGER = struct.pack("ii", 1, 0)  # a close is a reset


class Loop:
    """The thread that all proxies share."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)


class _Pipe:
    """Two sockets. `is_deaf`: what comes is taken and goes nowhere; neither side learns of it."""

    def __init__(self, is_deaf):
        self.is_deaf = is_deaf
        self.writers = []

    def reset(self):
        for writer in self.writers:
            with contextlib.suppress(OSError, AttributeError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                           _LINGER)
            writer.transport.abort()


class Proxy:
    def __init__(self, loop, target):
        self.loop = loop
        self.target = target
        self.delay = 0.0
        self.is_deaf = False
        self.refuses = False
        self.forbidden = None  # bytes; who sends them is cut off
        self.cuts = 0  # how often that was done
        self.pipes = set()
        self.upstream = {}  # local ports of open connections to the server
        self.port = processes.free_port()
        self.server = loop.run(asyncio.start_server(self._serve, "127.0.0.1", self.port))

    async def _serve(self, reader, writer):
        pipe = _Pipe(self.is_deaf)
        pipe.writers.append(writer)
        if self.refuses:
            return pipe.reset()
        self.pipes.add(pipe)
        if pipe.is_deaf:
            return None
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            self.pipes.discard(pipe)
            return pipe.reset()
        pipe.writers.append(forth)
        local = forth.get_extra_info("sockname")[1]
        self.upstream[local] = True
        for one in (writer, forth):
            one.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await asyncio.gather(self._pump(pipe, reader, forth), self._pump(pipe, back, writer))
        finally:
            if not pipe.is_deaf:
                self.upstream.pop(local, None)
                self.pipes.discard(pipe)
        return None

    async def _pump(self, pipe, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.forbidden is not None and self.forbidden in data:
                    self.cuts += 1
                    self.pipes.discard(pipe)
                    return pipe.reset()
                if self.delay:
                    await asyncio.sleep(self.delay)
                if pipe.is_deaf:
                    continue
                writer.write(data)
                await writer.drain()
        if not pipe.is_deaf:
            writer.close()
        return None

    async def _change(self, cut, deaf, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)
        for pipe in list(self.pipes):
            if deaf:
                pipe.is_deaf = True
            if cut:
                self.pipes.discard(pipe)
                pipe.reset()

    def cut(self, refuse=False):
        """Resets all connections, and new ones if asked to."""
        self.loop.run(self._change(True, False, refuses=refuse))

    def make_deaf(self):
        """All connections, and new ones, are half-open."""
        self.loop.run(self._change(False, True, is_deaf=True))

    def slow_down(self, seconds):
        self.loop.run(self._change(False, False, delay=seconds))

    def forbid(self, text):
        """Resets each connection over which this is sent."""
        self.loop.run(self._change(False, False, forbidden=text))

    def mend(self):
        """New connections work. Those that were deaf stay so: nobody tells their ends."""
        self.loop.run(self._change(False, False, delay=0.0, is_deaf=False, refuses=False,
                                   forbidden=None))
