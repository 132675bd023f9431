from __future__ import annotations

from pathlib import Path

import pytest

from rra.launch.trace import Observation, TraceParser

START = (
    b'10 execve("/usr/bin/bwrap", ["bwrap"], 0x7ffe /* 3 vars */) = 0\n'
    b'10 openat(AT_FDCWD</>, "/newroot/etc", O_WRONLY|O_CREAT, 0666) = 3</newroot/etc>\n'
    b'12 execve("/usr/bin/bash", ["bash"], 0x7ffe /* 3 vars */) = 0\n'
)
INET = b'{sa_family=AF_INET, sin_port=htons(%d), sin_addr=inet_addr("%s")}, 16'
INET6 = (
    b"{sa_family=AF_INET6, sin6_port=htons(%d), sin6_flowinfo=htonl(0), "
    b'inet_pton(AF_INET6, "%s", &sin6_addr), sin6_scope_id=0}, 28'
)


def parse(text: bytes, start: bytes = START) -> Observation:
    parser = TraceParser(Path("/code"), own=1)
    for line in (start + text).split(b"\n"):
        parser.feed(line)
    return parser.observation


def test_what_the_sandbox_does_itself_is_passed_over() -> None:
    seen = parse(b"")
    assert (list(seen.programs), list(seen.writes)) == (["/usr/bin/bash"], [])


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b'openat(AT_FDCWD</code>, "d.csv", O_RDONLY|O_CLOEXEC) = 3</data/r.csv>', "/data/r.csv"),
        (b'open("/data/a\\303\\251 \\"b\\"", O_RDONLY) = 3</data/a\\303\\251 "b">', '/data/aé "b"'),
        (b'openat2(AT_FDCWD</>, "x", {flags=O_RDONLY, resolve=0}, 24) = 3</x>', "/x"),
        (b'openat(4</data>, "x\\ny", O_RDONLY) = 3</data/x\\ny>', "/data/x\ny"),
    ],
)
def test_reads_are_known_by_where_they_lead(line: bytes, path: str) -> None:
    seen = parse(b"12 " + line)
    assert (list(seen.reads), list(seen.writes)) == ([path], [])


@pytest.mark.parametrize(
    "line",
    [
        b'openat(AT_FDCWD</code>, "d", O_RDONLY|O_DIRECTORY) = 3</code/d>',
        b'openat(AT_FDCWD</code>, "none", O_RDONLY) = -1 ENOENT (No such file or directory)',
        b'openat(AT_FDCWD</code>, "p", O_RDONLY) = 3<pipe:[123]>',
        b"+++ exited with 0 +++",
        b"--- SIGCHLD {si_signo=SIGCHLD} ---",
        b'openat(AT_FDCWD</code>, "cut off',
        b"",
    ],
)
def test_what_reads_no_file_counts_for_nothing(line: bytes) -> None:
    seen = parse(b"12 " + line)
    assert (list(seen.reads), list(seen.writes), list(seen.denied)) == ([], [], [])


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        (b'openat(AT_FDCWD</code>, "o", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</code/o>', ["/code/o"]),
        (b'creat("/code/o", 0666) = 3</code/o>', ["/code/o"]),
        (b'mkdir("sub/../new", 0777) = 0', ["/code/new"]),
        (b'mkdirat(5</tmp/x>, "new", 0777) = 0', ["/tmp/x/new"]),
        (b'rename("a", "/b") = 0', ["/code/a", "/b"]),
        (b'renameat2(AT_FDCWD</w>, "a", 7</z>, "b", RENAME_NOREPLACE) = 0', ["/w/a", "/z/b"]),
        (b'symlink("target", "link") = 0', ["/code/link"]),
        (b'linkat(AT_FDCWD</w>, "a", AT_FDCWD</w>, "b", 0) = 0', ["/w/b"]),
        (b'unlinkat(AT_FDCWD</w>, "a", 0) = 0', ["/w/a"]),
        (b'truncate("/t", 0) = 0', ["/t"]),
    ],
)
def test_writes_are_known_by_what_they_name(line: bytes, paths: list[str]) -> None:
    seen = parse(b"12 " + line)
    assert list(seen.writes) == paths


@pytest.mark.parametrize(
    "line",
    [
        b'openat(AT_FDCWD</code>, "/usr/x", O_WRONLY|O_CREAT, 0666) = -1 EROFS (Read-only)',
        b'openat(AT_FDCWD</code>, "/usr/x", O_RDWR) = -1 EACCES (Permission denied)',
        b'openat(AT_FDCWD</code>, "../usr/x", O_WRONLY|O_CREAT, 0666) = -1 ENOENT (No such file)',
        b'mkdir("/usr/x", 0777) = -1 EROFS (Read-only file system)',
    ],
)
def test_refused_writes_are_attempts(line: bytes) -> None:
    seen = parse(b"12 " + line)
    assert (list(seen.denied), list(seen.writes)) == (["/usr/x"], [])


@pytest.mark.parametrize(
    ("flags", "reads"),
    [
        (b"O_WRONLY|O_CREAT|O_TRUNC", []),
        (b"O_WRONLY|O_CREAT|O_APPEND", ["/code/a"]),
        (b"O_RDWR", ["/code/a"]),
        (b"O_RDWR|O_CREAT|O_TRUNC", []),
    ],
)
def test_what_the_run_wrote_itself_is_no_input(flags: bytes, reads: list[str]) -> None:
    seen = parse(
        b'12 openat(AT_FDCWD</code>, "a", ' + flags + b", 0666) = 3</code/a>\n"
        b'12 openat(AT_FDCWD</code>, "a", O_RDONLY) = 3</code/a>\n'
        b'12 rename("b", "c") = 0\n'
        b'12 openat(AT_FDCWD</code>, "c", O_RDONLY) = 3</code/c>\n'
    )
    assert list(seen.reads) == reads


def test_a_relative_name_follows_the_folder_of_its_process() -> None:
    seen = parse(
        b'12 chdir("sub")                     = 0\n'
        b'12 chdir("none")                    = -1 ENOENT (No such file or directory)\n'
        b'12 unlink("a") = 0\n'
        b'13 unlink("a") = 0\n'
        b'13 openat(AT_FDCWD</other>, "x", O_WRONLY|O_CREAT) = -1 EISDIR (Is a directory)\n'
        b'13 renameat(AT_FDCWD</other>, "x", AT_FDCWD</other>, "y") = 0\n'
        b'13 unlink("a") = 0\n'
    )
    expected = ["/code/sub/a", "/code/a", "/other/x", "/other/y", "/other/a"]
    assert list(seen.writes) == expected


def test_interrupted_lines_are_joined_by_process() -> None:
    seen = parse(
        b'12 openat(AT_FDCWD</code>, "a", O_RDONLY <unfinished ...>\n'
        b'13 openat(AT_FDCWD</code>, "b", O_RDONLY <unfinished ...>\n'
        b"12 <... openat resumed>)             = 3</code/a>\n"
        b"13 <... openat resumed>)             = -1 ENOENT (No such file or directory)\n"
        b'13 execve("/usr/bin/true", ["true"], 0x1 /* 1 var */ <unfinished ...>\n'
        b"13 <... execve resumed>)             = 0\n"
        b"14 <... openat resumed>)             = 3</code/lost>\n"
    )
    assert list(seen.reads) == ["/code/a"]
    assert list(seen.programs) == ["/usr/bin/bash", "/usr/bin/true"]


@pytest.mark.parametrize(
    ("line", "address"),
    [
        (INET % (80, b"192.0.2.1"), "192.0.2.1:80"),
        (INET6 % (443, b"2001:db8::1"), "2001:db8::1:443"),
        (INET % (53, b"127.0.0.53"), "127.0.0.53:53"),
        (INET % (80, b"127.0.0.1"), None),
        (INET6 % (80, b"::1"), None),
        (b'{sa_family=AF_UNIX, sun_path="/run/x"}, 110', None),
    ],
)
def test_connections_off_the_machine_are_attempts(line: bytes, address: str | None) -> None:
    seen = parse(b"12 connect(3<socket:[9]>, " + line + b") = -1 ENETUNREACH (unreachable)")
    assert list(seen.connections) == ([address] if address else [])


@pytest.mark.parametrize(
    ("ends", "known"),
    [
        ([b"-1 ENETUNREACH (x)"], "refused"),
        ([b"-1 ECONNREFUSED (x)", b"-1 ETIMEDOUT (x)"], "refused"),
        ([b"0"], "reached"),
        ([b"-1 ENETUNREACH (x)", b"0"], "reached"),
        ([b"0", b"-1 ECONNREFUSED (x)"], "reached"),
        ([b"-1 EINPROGRESS (x)"], ""),
    ],
)
def test_how_tries_ended_is_seen(ends: list[bytes], known: str) -> None:
    call = b"12 connect(3<socket:[9]>, " + INET % (80, b"192.0.2.1") + b") = "
    seen = parse(b"\n".join(call + end for end in ends))
    address = "192.0.2.1:80"
    assert list(seen.connections) == [address]
    found = {name for name in ("refused", "reached") if address in getattr(seen, name)}
    assert found == ({known} if known else set())


def test_events_of_the_observer_are_taken() -> None:
    seen = Observation()
    for kind, value in (
        ("read", "/a"),
        ("write", "/b"),
        ("exec", "true"),
        ("python", "3.11.7"),
        ("connect", "192.0.2.1:80"),
        ("connect", "localhost:80"),
        ("seed", "-4"),
        ("seed", "many"),
        ("gap", "seeds of torch are not seen"),
        ("other", "x"),
    ):
        seen.add(kind, value)
    assert (list(seen.reads), list(seen.writes), list(seen.programs)) == (["/a"], ["/b"], ["true"])
    assert list(seen.connections) == ["192.0.2.1:80"]
    assert (list(seen.seeds), seen.gaps) == ([-4], ["seeds of torch are not seen"])


def test_links_on_the_way_are_followed_and_one_at_the_end_is_not(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "file").symlink_to("/etc/passwd")
    place = bytes(tmp_path)
    seen = parse(
        b'12 unlinkat(AT_FDCWD<%b>, "link/file", 0) = 0\n' % place
        + b'12 mkdir("%b/link/new/", 0777) = 0\n' % place
        + b'12 rename("%b/link/../real/a", "%b/link/b") = 0\n' % (place, place)
        + b'12 unlink("%b/link") = 0\n' % place
    )
    real = tmp_path / "real"
    assert list(map(Path, seen.writes)) == [
        *(real / name for name in ("file", "new", "a", "b")),
        tmp_path / "link",
    ]
