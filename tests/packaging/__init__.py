"""The distribution `valkyr`: what it holds, what it needs, and that it installs."""
