import { type Command, Option } from "commander";
import { AUDIT_OUTCOMES } from "../domain/audit.ts";
import { systemClock } from "../runtime/clock.ts";
import { type AuditListOptions, exportAudit, listAudit, type VerifyOptions, verifyAudit } from "./audit.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

/** Commands about the audit trail. They ask the server, with an approver's token; only `verify` of a file asks nobody. */
export function addAuditCommands(program: Command, terminal: Terminal): void {
  const audit = program.command("audit").description("who asked for what, with which outcome");
  remote(audit.command("list"), ["table", "wide", "json", "yaml"])
    .description("records of the audit trail, newest first")
    .option("--actor <name>", "only of this token, user or role of Argosy")
    .option("--action <action>", "only of this operation or command, e.g. applyFleet, createToken")
    .addOption(new Option("--outcome <outcome>", "only with this outcome").choices(AUDIT_OUTCOMES))
    .option("--since <time>", "not older than this, e.g. 90m, 24h, 7d")
    .option("--limit <count>", "records at most (default: 100)")
    .action(async (options: RemoteOptions & AuditListOptions) =>
      terminal.write(await listAudit(clientOf(options, terminal), systemClock.now(), options)),
    );
  remote(audit.command("export"), ["json"])
    .description("every record, oldest first, one a line, as `audit verify` takes them")
    .action(async (options: RemoteOptions) => exportAudit(clientOf(options, terminal), terminal.write));
  remote(audit.command("verify [file]"), ["table", "json", "yaml"])
    .description(
      "check that no record was changed, removed, put in or moved, in an export (- for standard input) or on the server; exit code 1 if one was",
    )
    .option(
      "--from-hash <hash>",
      "hash of a record that was the last one once: a trail that was written anew or cut since does not have it",
    )
    .action(async (file: string | undefined, options: RemoteOptions & VerifyOptions) => {
      const { text, ok, notes } = await verifyAudit(() => clientOf(options, terminal), file, options);
      terminal.write(text);
      for (const note of notes) terminal.note(note);
      if (!ok) terminal.setExitCode(1);
    });
}
