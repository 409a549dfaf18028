"""What people do to failed steps: rerun, skip, or record a result by hand; who may."""
