# Adds to Docker's default seccomp profile only what the sandbox of python.code needs: six system
# calls, with which an unprivileged process creates namespaces and its own file system.
# docs/how-to/code-sandbox.md says how to use this file.
.syscalls += [{
  names: ["clone", "mount", "pivot_root", "sethostname", "umount2", "unshare"],
  action: "SCMP_ACT_ALLOW",
  comment: "Valkyr: sandbox of python.code"
}]
