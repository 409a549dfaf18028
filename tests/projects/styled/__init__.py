"""The project of `people` with django-unfold, and none of the stand-alone platform's templates."""
