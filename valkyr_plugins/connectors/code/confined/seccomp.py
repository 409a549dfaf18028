"""A permanent filter of the code's system calls (seccomp(2)).

It is applied last. It rejects new processes and threads, sockets other than AF_UNIX, io_uring, bpf,
perf, keyrings, ptrace, namespaces, mounts, System V IPC, and other unneeded parts of the kernel.
Calls that a newer kernel adds are rejected as unknown.
"""

import ctypes
import errno
import os

from valkyr_plugins.connectors.code.confined import kernel

PR_SET_SECCOMP, MODE_FILTER = 22, 2
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
# Classic BPF: load a word of seccomp_data, compare and jump, return (linux/bpf_common.h).
LOAD, JUMP_EQUAL, JUMP_GREATER, RETURN = 0x20, 0x15, 0x25, 0x06
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
AF_UNIX = 1
# The newest system call that was checked (mseal, Linux 6.10). From 424 on, all architectures use
# the same numbers. The x32 calls of x86-64 have higher numbers.
NEWEST = 462

# fmt: off
# An architecture's table omits calls that have no number of their own there.
X86_64 = {
    "socket": 41, "socketpair": 53,
    "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322,
    "shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "semop": 65, "semctl": 66,
    "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
    "mq_open": 240, "mq_unlink": 241, "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244,
    "mq_getsetattr": 245,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "personality": 135, "modify_ldt": 154, "iopl": 172, "ioperm": 173,
    "add_key": 248, "request_key": 249, "keyctl": 250,
    "perf_event_open": 298, "bpf": 321, "userfaultfd": 323,
    "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300, "fanotify_mark": 301,
    "quotactl": 179, "swapon": 167, "swapoff": 168, "acct": 163, "vhangup": 153,
    "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
    "kexec_file_load": 320, "reboot": 169, "syslog": 103, "sethostname": 170, "setdomainname": 171,
    "settimeofday": 164, "adjtimex": 159, "clock_settime": 227, "clock_adjtime": 305,
    "mbind": 237, "set_mempolicy": 238, "migrate_pages": 256, "move_pages": 279,
    "lookup_dcookie": 212, "nfsservctl": 180, "uselib": 134, "ustat": 136, "sysfs": 139,
    "_sysctl": 156,
}
AARCH64 = {
    "socket": 198, "socketpair": 199,
    "clone": 220, "execve": 221, "execveat": 281,
    "shmget": 194, "shmctl": 195, "shmat": 196, "shmdt": 197, "semget": 190, "semctl": 191,
    "semtimedop": 192, "semop": 193, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189,
    "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182, "mq_timedreceive": 183, "mq_notify": 184,
    "mq_getsetattr": 185,
    "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "personality": 92,
    "add_key": 217, "request_key": 218, "keyctl": 219,
    "perf_event_open": 241, "bpf": 280, "userfaultfd": 282,
    "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
    "name_to_handle_at": 264, "open_by_handle_at": 265, "fanotify_init": 262, "fanotify_mark": 263,
    "quotactl": 60, "swapon": 224, "swapoff": 225, "acct": 89, "vhangup": 58,
    "init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104,
    "kexec_file_load": 294, "reboot": 142, "syslog": 116, "sethostname": 161, "setdomainname": 162,
    "settimeofday": 170, "adjtimex": 171, "clock_settime": 112, "clock_adjtime": 266,
    "mbind": 235, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239,
    "lookup_dcookie": 18, "nfsservctl": 42,
}
EVERYWHERE = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447,
    "process_mrelease": 448, "set_mempolicy_home_node": 450, "statmount": 457, "listmount": 458,
    "lsm_get_self_attr": 459, "lsm_set_self_attr": 460, "lsm_list_modules": 461,
}
# fmt: on
# The values of AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 in linux/audit.h.
ARCHITECTURES = {
    "x86_64": (0xC000_003E, X86_64 | EVERYWHERE),
    "aarch64": (0xC000_00B7, AARCH64 | EVERYWHERE),
}
SOCKETS = ("socket", "socketpair")
# Errors of rejected calls for which EPERM would mislead: a C library tries clone3, then clone.
ERRORS = {
    "clone": errno.EAGAIN,
    "fork": errno.EAGAIN,
    "vfork": errno.EAGAIN,
    "clone3": errno.ENOSYS,
}


class Instruction(ctypes.Structure):
    """The C structure `sock_filter`."""

    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    """The C structure `sock_fprog`."""

    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction)))


def restrict() -> None:
    """Block the forbidden system calls for this process. Requires no_new_privs. Raises OSError."""
    instructions = program(os.uname().machine)
    filter_ = (Instruction * len(instructions))(*instructions)
    kernel.call(
        "prctl",
        PR_SET_SECCOMP,
        ctypes.c_ulong(MODE_FILTER),
        ctypes.byref(Program(len(instructions), filter_)),
        *[ctypes.c_ulong(0)] * 2,
    )


def program(machine: str) -> list[Instruction]:
    """Return the filter for a processor type (`uname -m`). Raises OSError for an unknown type."""
    if machine not in ARCHITECTURES:
        raise OSError(0, f"no filter of system calls is known for {machine} processors")
    architecture, numbers = ARCHITECTURES[machine]
    found = [
        Instruction(LOAD, 0, 0, ARCHITECTURE_AT),
        Instruction(JUMP_EQUAL, 1, 0, architecture),
        Instruction(RETURN, 0, 0, KILL_PROCESS),
        Instruction(LOAD, 0, 0, NUMBER_AT),
        Instruction(JUMP_GREATER, 0, 1, NEWEST),
        Instruction(RETURN, 0, 0, ERRNO | errno.ENOSYS),
    ]
    for name, number in numbers.items():
        if name in SOCKETS:
            continue
        found += [
            Instruction(JUMP_EQUAL, 0, 1, number),
            Instruction(RETURN, 0, 0, ERRNO | ERRORS.get(name, errno.EPERM)),
        ]
    for name in SOCKETS:
        found += [
            Instruction(JUMP_EQUAL, 0, 4, numbers[name]),
            Instruction(LOAD, 0, 0, FIRST_ARGUMENT_AT),
            Instruction(JUMP_EQUAL, 0, 1, AF_UNIX),
            Instruction(RETURN, 0, 0, ALLOW),
            Instruction(RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT),
        ]
    return [*found, Instruction(RETURN, 0, 0, ALLOW)]
