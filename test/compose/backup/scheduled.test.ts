// Scheduled backups: made once per time, pruned, and visible when they fail.
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect } from "chai";
import { readOperationsStatus } from "../../../src/features/admin/status/operations-status.ts";
import { pruneBackups } from "../../../src/compose/backup/files.ts";
import { makeScheduledBackup } from "../../../src/compose/workers.ts";
import { openDatabase } from "../../../src/platform/database/open.ts";
import { serverSecret } from "../../support/secret.ts";
import { day, hour, minute, systemClock } from "../../../src/kernel/clock.ts";
import { createPrometheus } from "../../../src/platform/metrics/prometheus.ts";
import { readBackupRecord } from "../../../src/platform/backup/history.ts";
import { createLogger, silentLogger } from "../../../src/platform/logger/index.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { anyStore, eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { configOf, usePlaces } from "./backups.ts";

const isBackup = (name: string) => /^till-backup-[0-9a-z]+-\d{8}T\d{9}Z\.tar$/.test(name);

eachStore("scheduled backups", (store) => {
  const places = usePlaces();
  const running: TestApp[] = [];
  afterEach(async () => {
    for (const app of running.splice(0)) await app.stop();
  });

  it("are made at their time, kept by number, and show in the status, the log and the metrics when they fail", async () => {
    const folder = join(await places.folder(), "backups");
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    const metrics = createPrometheus({ version: "0", logger: silentLogger });
    const app = await startApp({
      place: await store.place("migrated"),
      clock: movingClock(Date.parse("2026-11-22T12:00:00Z")),
      settings: {
        TILL_BACKUP_FOLDER: folder,
        TILL_BACKUP_SCHEDULE: "15 3 * * *",
        TILL_BACKUP_KEEP_COUNT: "2",
      },
      outside: { metrics, logger: createLogger({ level: "error", destination }) },
    });
    running.push(app);
    const { db, clock, background } = app.app;
    const check = async () => {
      const { checks } = await readOperationsStatus(app.app, testContext);
      return `${checks["backup"]?.status ?? ""}: ${checks["backup"]?.message ?? ""}`;
    };
    const record = () => readBackupRecord(db);
    const nextDay = () => {
      app.clock.advance(day);
      background.wake("cron");
    };
    const wait = () => {
      background.wake("queue maintenance");
      return record();
    };

    // The time that was missed before the first start is made up.
    const first = await until("a backup", wait, ({ made }) => made !== null);
    expect((await readdir(folder)).filter(isBackup)).to.have.length(1);
    expect(await check()).to.equal("ok: The newest backup is 0 h old.");
    for (let round = 0; round < 2; round += 1) {
      const before = (await record()).made?.at ?? 0;
      nextDay();
      await until("the next backup", wait, ({ made }) => (made?.at ?? 0) > before);
    }
    await until(
      "two backups",
      () => readdir(folder),
      (names) => names.length === 2,
    );
    expect(await readdir(folder)).not.to.include(first.made?.path.split("/").at(-1));

    // A backup that cannot be removed does not make the new one fail.
    const [own] = (await readdir(folder)).filter(isBackup);
    const stuck = join(folder, String(own).replace(/\d{8}T/, "20200101T"));
    await mkdir(stuck);
    const previous = (await record()).made?.at ?? 0;
    nextDay();
    const made = await until("a backup", wait, (each) => (each.made?.at ?? 0) > previous);
    expect(made.failure).to.equal(null);
    const names = await until(
      "a removed backup",
      () => readdir(folder),
      (found) => found.length === 3,
    );
    expect(names).to.include(basename(stuck));

    const kept = (await record()).made?.at ?? 0;
    await rm(folder, { recursive: true });
    await writeFile(folder, "not a folder");
    nextDay();
    const failed = await until("a failure", wait, ({ failure }) => failure !== null);
    expect(failed.made?.at).to.equal(kept);
    expect(await check()).to.match(
      /^degraded: The backup of \S+ failed: E.* The newest backup is 2[34] h old/,
    );
    expect(lines.join("")).to.include('"alarm":"backup_failed"');
    const { body: text } = await metrics.scrape();
    expect(text)
      .to.match(/till_backup_failed 1\n/)
      .and.match(/till_backup_age_seconds 8\d{4}/);

    await rm(folder);
    app.clock.advance(2 * hour);
    const again = await until("a retry that succeeds", wait, ({ failure }) => failure === null);
    expect(again.made?.at).to.be.at.least(clock.now() - minute);
  });
});

anyStore("a scheduled backup that is ended", (store) => {
  const places = usePlaces();

  it("has failed if it took too long or lost its lease, and not if the program stops", async () => {
    const place = await store.place("migrated");
    await (await startApp({ place, background: false })).stop();
    const folder = await places.folder();
    const config = await configOf(place, { TILL_BACKUP_FOLDER: folder });
    const db = await openDatabase(place);
    const handler = makeScheduledBackup({
      config,
      db,
      secret: serverSecret,
      clock: systemClock,
      logger: silentLogger,
    });
    const end = async (stopping: AbortController) => {
      const job = { id: "job_1", payload: {}, attempts: 1, signal: stopping.signal };
      const ended = await Promise.resolve(handler.run(job)).then(() => "made", String);
      expect(ended).not.to.equal("made");
      return (await readBackupRecord(db)).failure?.message;
    };
    const stopped = new AbortController();
    stopped.abort();
    expect(await end(stopped)).to.equal(undefined);
    const tooLong = new AbortController();
    tooLong.abort(new Error("the job took too long"));
    expect(await end(tooLong)).to.equal("the job took too long");
    expect(await readdir(folder)).to.deep.equal([]);
    await db.close();
  });
});

describe("old backups", () => {
  const places = usePlaces();

  it("are removed beyond the number or the age, but never the newest or a file of another name", async () => {
    const folder = await places.folder();
    const name = (date: string, owner = "ownstore") =>
      `till-backup-${owner}-202611${date}T031500000Z.tar`;
    const before = "before-migration-of-v3-ownstore-20200101T000000000Z.tar";
    const future = name("21").replace("2026", "2099");
    const foreign = [name("01", "other000"), `${name("01", "other000")}.partial`];
    const others = ["notes.txt", before, future, ...foreign];
    const leftovers = ["", ".db", ".db-wal", ".db-shm"].flatMap((suffix) =>
      [name("01"), before].map((file) => `${file}.partial${suffix}`),
    );
    const young = `${name("21")}.partial`;
    const all = ["01", "10", "19", "20", "21"].map((date) => name(date));
    for (const file of [...all, ...others, ...leftovers, young])
      await writeFile(join(folder, file), "");
    const now = Date.parse("2026-11-21T12:00:00Z");
    const prune = (limits: Parameters<typeof pruneBackups>[3], at: number) =>
      pruneBackups(folder, name("21"), "org_01ownstore", limits, at);
    await prune({ count: 4, age: 5 * day }, now);
    const left = ["19", "20", "21"].map((date) => name(date));
    expect(await readdir(folder)).to.have.members([...left, ...others, young]);
    await prune({ count: 1, age: 1 }, now + 99 * day);
    expect(await readdir(folder)).to.have.members([name("21"), ...others]);
  });
});
