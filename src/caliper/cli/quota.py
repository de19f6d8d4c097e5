"""`caliper quota`: what teams use of their quotas."""

from __future__ import annotations

import asyncio

from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation import Server
from caliper.cli.tables import text_table
from caliper.core.keys import fields_of
from caliper.local.installation import ask_gateway


def quota(server: Server, json: Json = False) -> int:
    """Show your team's use of quotas; administrators see all.

    Days are in UTC. Only what has a limit is counted.
    """
    quotas = asyncio.run(ask_gateway(server, lambda gateway: gateway.quotas()))
    if json:
        write_json([fields_of(each) for each in quotas])
        return Exit.DONE
    if not quotas:
        OUT.print("No quotas.")
        return Exit.DONE
    table = text_table(["team", "quota"], ["used", "limit"])
    table.add_column("available again", overflow="fold")
    for each in quotas:
        name = each.name.replace("_", " ")
        table.add_row(each.team, name, f"{each.used:,}", f"{each.limit:,}", each.frees)
    OUT.print(table)
    return Exit.DONE
