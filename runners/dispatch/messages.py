"""Send a canvas as messages after the commit. A lost message only costs time.

A failure to publish is therefore logged, never raised. If the broker is unreachable, the runs are
marked as unsent, and the sweeper tries to send them every second. After another error, or if the
mark cannot be written, the sweeper still finds the pending runs.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from celery import Signature, chain, chord, group
from django.db import Error, InterfaceError
from django.db import OperationalError as DatabaseError
from kombu.exceptions import OperationalError

from executions import messaging
from executions.database import transaction
from executions.definition.graph.places import Place
from executions.definition.limits import limits
from executions.definition.versions import compiled
from executions.vendor_seams.celery_messages import Alike
from runners import statements
from runners.conf import config
from runners.dispatch.canvas import Canvas, Chain, Chord, Parcel, SegmentLink, arrange, ours
from runners.dispatch.estimates import packing_rules
from runners.dispatch.execution_packs import packed_executions
from runners.dispatch.packing import NONE, Packing
from runners.events import segments_resent

log = logging.getLogger(__name__)

RUN_SEGMENT = "runners.run_segment"
RUN_EXECUTIONS = "runners.run_executions"
ADVANCE = "runners.advance"
PREPARE_REMOTE = "runners.prepare_remote"
PREPARED_BY = "default"  # the queue whose workers render inputs of remote steps
PREPARED_TOGETHER = 50  # maximum remote steps of one execution in one message
TOGETHER = 500  # maximum messages in one batch to the broker


def parcel(
    execution_id: UUID, version_id: UUID, priority: int, place: Place, ready: Sequence[int]
) -> Parcel:
    """Return an execution's ready steps, arranged for sending."""
    return Parcel(execution_id, version_id, priority, arranged(version_id, place, ready))


def arranged(version_id: UUID, place: Place, ready: Sequence[int]) -> tuple[Canvas, ...]:
    """Return the canvas that sends ready steps of an execution of this version."""
    most = config()
    rules = _packing(version_id, place, ready) if len(ready) > 1 else NONE
    canvas = arrange(
        place, list(ready), headers=most.chord_headers, links=most.chain_links, rules=rules
    )
    return tuple(canvas)


def _packing(version_id: UUID, place: Place, ready: Sequence[int]) -> Packing:
    """Return the packing rules, based on the recent durations of these steps."""
    steps = [place.graph.steps[index] for index in ready]
    return packing_rules(compiled(version_id).workflow_id, steps)


def publish_segment_after_commit(
    execution_id: UUID, version_id: UUID, priority: int, segment: str, queue: str, name: str
) -> None:
    """Send one segment when the open transaction commits."""
    canvas = Chain((SegmentLink(segment, queue, name),))
    publish_after_commit([Parcel(execution_id, version_id, priority, (canvas,))])


def publish_after_commit(parcels: Sequence[Parcel]) -> None:
    """Send the work when the open transaction commits, or now if there is no transaction.

    Short segments of many executions of one version share messages. For remote queues, workers
    render the inputs, and then the runs wait for a lease.
    """
    near = [ours_of for item in parcels if (ours_of := _near(item)).canvas]
    if near:
        sent = packed_executions(near)
        transaction.on_commit(lambda: publish(sent), robust=True)
    remote = [far for item in parcels if (far := _far(item)).canvas]
    if remote:
        transaction.on_commit(lambda: prepare_remote(remote), robust=True)


def publish(parcels: Sequence[Parcel]) -> None:
    """Send the messages now, over one connection; if this fails, the sweeper sends them later."""
    try:
        with messaging.sending(), messaging.celery_app().producer_or_acquire() as producer:
            if sum(len(item.canvas) for item in parcels) > 1:
                _send_together(parcels, producer)
            else:
                _send(parcels, producer)
    except (OperationalError, ConnectionError, TimeoutError, OSError) as error:
        log.warning("messages not sent (%s); the sweeper will send them", error)
        _unsend(parcels)
    except Exception:
        # The cause is not the broker, so the error may recur. These messages are not marked as
        # unsent; otherwise the sweeper would retry them every second, before all others.
        log.exception("messages not sent; the sweeper will send them")


def prepare_remote(parcels: Sequence[Parcel]) -> None:
    """Ask workers to render the inputs of remote steps now; the sweeper asks again if necessary."""
    try:
        with messaging.sending(), messaging.celery_app().producer_or_acquire() as producer:
            for item in parcels:
                segments = list(_segments(item.canvas))
                for first in range(0, len(segments), PREPARED_TOGETHER):
                    some = segments[first : first + PREPARED_TOGETHER]
                    messaging.send(
                        PREPARE_REMOTE,
                        (str(item.execution_id), str(item.version_id), some),
                        PREPARED_BY,
                        priority=messaging.broker_priority(item.priority),
                        producer=producer,
                    )
    except Exception as error:
        log.warning("remote steps not sent for rendering (%s); the sweeper will send them", error)
        _unsend(parcels)


def _unsend(parcels: Sequence[Parcel]) -> None:
    """Mark the messages as unsent; otherwise the sweeper would wait before it sends them again.

    Some messages may have arrived; a duplicate is harmless.
    """
    unsent = [
        (execution_id, path)
        for item in parcels
        for path in _segments(item.canvas)
        for execution_id in (item.execution_id, *item.others)
    ]
    noted = {"executions": [one for one, _ in unsent], "segments": [path for _, path in unsent]}
    try:
        statements.fetch("mark_unsent", noted)
    except Error as error:
        log.warning(
            "unsent messages could not be recorded (%s); the sweeper will find them missing", error
        )


def _segments(canvas: Sequence[Canvas]) -> Iterator[str]:
    """Yield the segments of a canvas that have runs: headers of chords, first links of chains."""
    for whole in canvas:
        for link in whole.headers if isinstance(whole, Chord) else whole.links[:1]:
            yield from (link.segment, *link.others)


def _send_together(parcels: Sequence[Parcel], producer: Any) -> None:
    """Send the messages in batches of 500; one by one before kombu 5.7, or if a batch fails."""
    if not hasattr(producer, "batch"):  # kombu before 5.7
        _send(parcels, producer)
        return
    from kombu.exceptions import BatchPublishError  # type: ignore[attr-defined] # old stubs

    try:
        with producer.batch(TOGETHER):
            _send(parcels, producer)
    except BatchPublishError as error:
        # It is unknown which messages arrived. Sending them all again is safe, because a duplicate
        # is harmless.
        log.info("messages are sent again one at a time (%s)", error)
        _send(parcels, producer)


def _send(parcels: Sequence[Parcel], producer: Any) -> None:
    alike = Alike(producer)
    for item in parcels:
        for canvas in item.canvas:
            make = partial(_signature, item, canvas)
            if item.others:
                _executions(item).apply_async(producer=producer, ignore_result=True)
            elif isinstance(canvas, Chain) and len(canvas.links) == 1:
                alike.send((item.version_id, item.priority, canvas), item.execution_id, make)
            else:
                make().apply_async(producer=producer, ignore_result=True)


def advance(execution_id: UUID) -> None:
    """Ask a worker to plan an execution from its rows."""
    try:
        with messaging.sending():
            _advance(execution_id).apply_async(ignore_result=True)
    except Exception as error:
        log.warning("advance of %s not sent (%s); the sweeper will", execution_id, error)


def tell_after_commit(task: str, subject: UUID, *more: str) -> None:
    """Send a task for the ID `subject` to the control queue when the open transaction commits."""
    transaction.on_commit(partial(tell, task, subject, *more), robust=True)


def tell(task: str, subject: UUID, *more: str) -> None:
    """Send a task for the ID `subject`; if sending fails, a duty of the sweeper does the work."""
    try:
        messaging.send(task, (str(subject), *more), messaging.CONTROL)
    except Exception as error:
        log.warning("%s of %s not sent (%s); the sweeper will do it", task, subject, error)


def _near(item: Parcel) -> Parcel:
    canvas = item.canvas
    if not messaging.counts_chords():
        # Without chords, each branch checks the join from the rows, like branches sent one by one.
        canvas = tuple(one for whole in canvas for one in _uncounted(whole))
    if remote := limits().remote_queues:
        canvas = tuple(one for whole in canvas for one in ours(whole, remote))
    return replace(item, canvas=canvas)


def _uncounted(canvas: Canvas) -> tuple[Canvas, ...]:
    return (
        tuple(Chain((link,)) for link in canvas.headers) if isinstance(canvas, Chord) else (canvas,)
    )


def _far(item: Parcel) -> Parcel:
    """Return the work with only those segments that begin with remote steps."""
    remote = limits().remote_queues
    if not remote:
        return replace(item, canvas=())
    links = [
        link
        for whole in item.canvas
        for link in (whole.headers if isinstance(whole, Chord) else whole.links[:1])
        if link.queue in remote
    ]
    return replace(item, canvas=tuple(Chain((link,)) for link in links))


def _signature(item: Parcel, canvas: Canvas) -> Signature:
    if isinstance(canvas, Chord):
        headers = group([_segment(item, link) for link in canvas.headers])
        return chord(headers, _advance(item.execution_id))
    assert isinstance(canvas, Chain)
    links = [_segment(item, link) for link in canvas.links]
    return links[0] if len(links) == 1 else chain(*links)


def _segment(item: Parcel, link: SegmentLink) -> Signature:
    named = (str(item.execution_id), str(item.version_id), link.segment)
    return messaging.celery_app().signature(
        RUN_SEGMENT,
        args=(*named, link.others) if link.others else named,
        immutable=True,
        queue=messaging.at_broker(link.queue),
        priority=messaging.broker_priority(item.priority),
        serializer=messaging.SERIALIZER,
        shadow=link.name,
    )


def _executions(item: Parcel) -> Signature:
    """Return the Celery signature that runs the same segment of several executions."""
    [canvas] = item.canvas
    assert isinstance(canvas, Chain)
    [link] = canvas.links
    ids = [str(execution_id) for execution_id in (item.execution_id, *item.others)]
    return messaging.celery_app().signature(
        RUN_EXECUTIONS,
        args=(ids, str(item.version_id), link.segment),
        immutable=True,
        queue=messaging.at_broker(link.queue),
        priority=messaging.broker_priority(item.priority),
        serializer=messaging.SERIALIZER,
        shadow=f"{link.name} of {len(ids)} executions",
    )


def _advance(execution_id: UUID) -> Signature:
    return messaging.celery_app().signature(
        ADVANCE,
        args=(str(execution_id),),
        immutable=True,
        queue=messaging.at_broker(messaging.CONTROL),
        serializer=messaging.SERIALIZER,
    )


# Send segments again, each in its own message, over one connection.


BATCH = 500


def resend(rows: Iterable[tuple[UUID, UUID, int, str, str, str]]) -> int:
    """Send the segments in these rows when the open transaction commits; return their number.

    A row is (execution, version, priority, segment, queue, step path).
    """
    parcels = [
        Parcel(execution, version, priority, (Chain((SegmentLink(segment, queue, path),)),))
        for execution, version, priority, segment, queue, path in rows
    ]
    segments_resent.send(Parcel, execution_ids=[item.execution_id for item in parcels])
    publish_after_commit(parcels)
    return len(parcels)


# Options for Celery's retries of Valkyr's tasks, which cover only errors of the transport.
#
# Celery never retries steps. Their retries are rows.


TRANSPORT: dict[str, Any] = {
    "autoretry_for": (DatabaseError, InterfaceError),
    "retry_backoff": 1,
    "retry_backoff_max": 10,
    "max_retries": 8,
}
