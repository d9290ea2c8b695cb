"""A filter of system calls for the sandbox: the calls that no lab needs, and that reach what namespaces do not separate.

The files in a sandbox are the host's own, read-only. Locks on them, and notices of their use, are a way to signal to another
submission. So are the kernel's keys, sockets of machines (`AF_VSOCK`), the machine's number of asynchronous reads, and calls that
say which files are in memory, or change that. The sandbox counts the memory of its processes, so memory that no process has is
refused: files in memory, System V segments, queues and semaphores, pages given to a pipe, and shared mappings without a file. It
counts the CPU time of ended processes where their parents wait for them, so that a parent has to. The other calls are there because
flaws of the kernel were found behind them again and again. `bwrap --seccomp` reads the filter as a program for the kernel's BPF
machine.
"""

from __future__ import annotations

import errno
import platform
import struct

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*

_REFUSED = {  # the numbers on x86-64 and on aarch64
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    **{"inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272)},
    **{"pidfd_getfd": (438, 438), "process_madvise": (440, 440), "name_to_handle_at": (303, 264)},
    **{"open_by_handle_at": (304, 265), "userfaultfd": (323, 282), "perf_event_open": (298, 241), "bpf": (321, 280)},
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    **{"unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40)},
    **{"umount2": (166, 39), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430)},
    **{"fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442)},
    **{"quotactl": (179, 60), "quotactl_fd": (443, 443), "syslog": (103, 116), "acct": (163, 89)},
    **{"init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104), "modify_ldt": (154, None)},
    **{"mincore": (27, 232), "cachestat": (451, 451), "fadvise64": (221, 223), "readahead": (187, 213)},
    **{"preadv2": (327, 286), "pwritev2": (328, 287), "io_setup": (206, 0)},  # which can read only what is in memory
    **{"memfd_create": (319, 279), "memfd_secret": (447, 447), "vmsplice": (278, 75)},
    **{"shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190)},
}
_MMAP, _SHARED_ANONYMOUS = (9, 222), 0x21  # MAP_SHARED | MAP_ANONYMOUS
_SETSID = (112, 157)  # the kernel divides a CPU by sessions: fifty of them would leave other submissions a fiftieth
_FLOCK, _FCNTL, _SOCKET, _SOCKETPAIR, _CLONE, _CLONE3 = (73, 32), (72, 25), (41, 198), (53, 199), (56, 220), (435, 435)
_SIGACTION, _SIGCHLD = (13, 134), 17
_LOCK_COMMANDS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)  # of fcntl: F_*LK*, F_OFD_*LK*, F_*LEASE, F_NOTIFY
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: a network namespace separates them
_NEW_NAMESPACES = 0x7E020080  # all flags CLONE_NEW* of clone
_X32 = 0x40000000  # numbers of a second set of system calls on x86-64

_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06  # operations of the BPF machine
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000  # SECCOMP_RET_*
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

Program = list[tuple[int, int, int, int]]  # operation, instructions to skip if true, if false, operand


def program(bench: bool, machine: str = "") -> bytes:
    """The filter for this machine; on other architectures it lets everything pass.

    In a lab on torch files can be locked, which torch's compiler does, and SIGCHLD can be handled, which a server of forks does.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return _packed([_allow()])
    column = list(_ARCHITECTURES).index(machine)
    refuse = [_fail(errno.EPERM)]
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, _ARCHITECTURES[machine]), _fail(errno.ENOSYS)]
    code += [(_LOAD, 0, 0, _NUMBER), *_when(_AT_LEAST, _X32, [_fail(errno.ENOSYS)])]
    for numbers in _REFUSED.values():
        if (number := numbers[column]) is not None:
            code += _when(_EQUAL, number, refuse)
    code += _when(
        _EQUAL, _SETSID[column], [_fail(0)]
    )  # it does nothing and returns 0, because torch's compiler calls it
    if not bench:
        code += _when(_EQUAL, _FLOCK[column], [_fail(errno.ENOLCK)])
        code += _on_argument(_FCNTL[column], 1, _any(_LOCK_COMMANDS, _fail(errno.ENOLCK)) + [_allow()])
        # a parent that ignores SIGCHLD need not wait; with a null pointer, the second argument, it only asks what is set
        changes = [(_LOAD, 0, 0, _ARGUMENTS + 8), *_when(_AT_LEAST, 1, refuse)]
        changes += [(_LOAD, 0, 0, _ARGUMENTS + 12), *_when(_AT_LEAST, 1, refuse), _allow()]
        code += _on_argument(_SIGACTION[column], 0, [*_when(_EQUAL, _SIGCHLD, changes), _allow()])
    for call in (_SOCKET, _SOCKETPAIR):
        code += _on_argument(call[column], 0, _any(_FAMILIES, _allow()) + [_fail(errno.EAFNOSUPPORT)])
    shared = [(_AND, 0, 0, _SHARED_ANONYMOUS), *_when(_EQUAL, _SHARED_ANONYMOUS, refuse), _allow()]
    code += _on_argument(_MMAP[column], 3, shared)
    code += _on_argument(_CLONE[column], 0, _when(_ANY_BIT, _NEW_NAMESPACES, refuse) + [_allow()])
    code += _when(
        _EQUAL, _CLONE3[column], [_fail(errno.ENOSYS)]
    )  # its flags are in memory; the C library uses clone then
    return _packed([*code, _allow()])


def _packed(code: Program) -> bytes:
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _allow() -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ALLOW)


def _fail(error: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERROR | error)


def _when(test: int, operand: int, then: Program) -> Program:
    return [(test, 0, len(then), operand), *then]


def _any(values: tuple[int, ...], then: tuple[int, int, int, int]) -> Program:
    return [instruction for value in values for instruction in _when(_EQUAL, value, [then])]


def _on_argument(number: int, argument: int, then: Program) -> Program:
    """Decide a system call by the low half of an argument; flags, commands and families of sockets have no high half."""
    return _when(_EQUAL, number, [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument), *then])
