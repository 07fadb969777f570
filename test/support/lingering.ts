// A suite that starts a server, writes the ids of both processes to the file that LINGERING_PIDS names, and waits until it
// is ended. It is for guard.test.ts, and no part of the suite.
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { useFolders, useProcesses } from "./till.ts";

describe("a suite that waits", () => {
  const folders = useFolders();
  const processes = useProcesses();

  it("is ended while its server runs", async () => {
    const server = processes.start(["demo", "--json", "--port", "0"], {
      TMPDIR: await folders.make(),
    });
    await server.line(/^\{/);
    await writeFile(
      process.env["LINGERING_PIDS"] ?? "",
      `${String(process.pid)} ${String(server.pid)}\n`,
    );
    await delay(100_000);
  });
});
