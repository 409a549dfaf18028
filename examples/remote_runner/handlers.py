"""The handlers of this example's runner, by name."""

import time


def thumbnail(job):
    """Pretend to shrink a picture, and stop as soon as the result is no longer wanted."""
    for percent in range(0, 100, 20):
        if job.unwanted.wait(0.05):
            return None
        job.details = {"percent": percent}
    return {"file": f"{job.inputs['picture']}-small.png", "madeAt": int(time.time())}


def judge(job):
    """Choose an outcome that the step declares."""
    job.outcome = "tall" if job.inputs["height"] > job.inputs["width"] else "wide"
    return {"ratio": job.inputs["width"] / job.inputs["height"]}


HANDLERS = {"thumbnail": thumbnail, "judge": judge}
