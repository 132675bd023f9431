"""Running launchers: order, private places, parameters, recording, collecting, evidence."""

from __future__ import annotations

from rra.launch.backends import Backend, Campaign, find_backend
from rra.launch.backends.worker import run_task_of
from rra.launch.building import build_environment, isolation_level
from rra.launch.campaigns import campaign_folder, latest_campaign
from rra.launch.exports import Export, export_plan
from rra.launch.fetch import FetchedItem, fetch_data, fetch_item
from rra.launch.instances import parse_seeds
from rra.launch.limits import DEFAULT_OUTPUT_BYTES
from rra.launch.place import copy_code, remove_place, stage_place
from rra.launch.plan import order_launchers
from rra.launch.planning import make_plan
from rra.launch.recorder import probe_recorder
from rra.launch.recovery import Recovered, recover_runs
from rra.launch.request import DEFAULT_INSTANCE, RunRequest, RunResult
from rra.launch.run import isolation_of, run_launcher
from rra.launch.schedule import TaskEnd, carry_out
from rra.launch.standing import Standing, Standings
from rra.launch.tasks import Asked, Plan, Task, read_plan

__all__ = [
    "DEFAULT_INSTANCE",
    "DEFAULT_OUTPUT_BYTES",
    "Asked",
    "Backend",
    "Campaign",
    "Export",
    "FetchedItem",
    "Plan",
    "Recovered",
    "RunRequest",
    "RunResult",
    "Standing",
    "Standings",
    "Task",
    "TaskEnd",
    "build_environment",
    "campaign_folder",
    "carry_out",
    "copy_code",
    "export_plan",
    "fetch_data",
    "fetch_item",
    "find_backend",
    "isolation_level",
    "isolation_of",
    "latest_campaign",
    "make_plan",
    "order_launchers",
    "parse_seeds",
    "probe_recorder",
    "read_plan",
    "recover_runs",
    "remove_place",
    "run_launcher",
    "run_task_of",
    "stage_place",
]
