import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { tellSystemd } from "../../../src/cli/commands/serve.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";

describe("the notice to systemd", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "till systemd "));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const tell = async (env: Readonly<Record<string, string>>) => {
    const warnings: string[] = [];
    const logger = {
      ...silentLogger,
      warn: (_: unknown, text?: string) => warnings.push(text ?? ""),
    };
    const terminal = { surroundings: { env: { PATH: `${folder}:/bin:/usr/bin`, ...env } } };
    await tellSystemd(terminal as never, "ready", logger);
    return warnings;
  };

  it("is sent by systemd's own command, and only if systemd waits for it", async () => {
    const command = join(folder, "systemd-notify");
    await writeFile(command, `#!/bin/sh\necho "$@ $NOTIFY_SOCKET" >> "${folder}/sent"\n`);
    await chmod(command, 0o755);
    expect(await tell({})).to.deep.equal([]);
    expect(await tell({ NOTIFY_SOCKET: "/run/systemd/notify" })).to.deep.equal([]);
    expect(await readFile(join(folder, "sent"), "utf8")).to.equal("READY=1 /run/systemd/notify\n");
  });

  it("is a warning if it fails, because the server runs all the same", async () => {
    const [warning] = await tell({ NOTIFY_SOCKET: join(folder, "none"), PATH: folder });
    expect(warning).to.include("systemd-notify");
  });
});
