"""Django projects that are not ours, into which tests install our apps."""
