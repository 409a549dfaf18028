# Adds to Docker's default seccomp profile what the sandbox of python.code needs, and nothing else:
# six system calls, by which an unprivileged process makes namespaces and a file system of its own.
# docs/how-to/code-sandbox.md says how to use it.
.syscalls += [{
  names: ["clone", "mount", "pivot_root", "sethostname", "umount2", "unshare"],
  action: "SCMP_ACT_ALLOW",
  comment: "Valkyr: sandbox of python.code"
}]
