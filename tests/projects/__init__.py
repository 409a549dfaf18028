"""Other Django projects, into which tests install Valkyr's apps."""
