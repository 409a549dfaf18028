"""The project of `people` with django-unfold, without the stand-alone platform's templates."""
