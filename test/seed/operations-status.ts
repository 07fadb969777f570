// Sections 2, 4.4 and 6: operations status of a server that works, and webhooks with their deliveries.
import { expect } from "chai";
import { expectProblem } from "../http/problem.ts";
import { expectStatus, type Answer } from "../support/app.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { testFields, type } from "./fields.ts";
import type { Caller, World } from "./world.ts";

const statusPath = "/admin/operations/status";
/** The check's values; the seed names ok. */
const healths = ["ok", "unknown", "degraded", "down"];
const health = (value: unknown) => expect(type.string(value)).to.be.oneOf(healths);
const records = (value: unknown) => type.array(value).map(type.object);

export function operationsStatusTests(world: () => World): void {
  describe("a server that works", () => {
    let admin: Caller;
    let shop: Caller;
    let receiver: Receiver;
    let status: Answer;

    const infrastructure = () => type.object(status.body["infrastructure"]);
    const listed = async (path: string) =>
      records((await expectStatus(shop.home("GET", path), 200)).body["data"]);
    const backlog = async () =>
      type.object((await expectStatus(admin.ask("GET", statusPath), 200)).body["webhooks"]);

    before(async () => {
      const { app } = world().estate;
      admin = await world().admin();
      shop = await world().merchant();
      receiver = await startReceiver();
      await app.app.start();
      status = await until(
        "a good status",
        () => admin.ask("GET", statusPath),
        (answer) =>
          type.object(answer.body["infrastructure"])["status"] === "ok" &&
          records(answer.body["providers"]).every((one) => one["status"] === "ok"),
      );
    });
    after(() => receiver.close());

    testFields(
      "AdminOperationsStatus",
      [
        ["checkedAt", "a date-time, the moment the status was taken", type.dateTime],
        ["infrastructure", "an object", type.object],
        [
          "providers",
          "an array of OperationsProviderHealth",
          (value) => expect(records(value)).not.to.be.empty,
        ],
        [
          "queues",
          "an array of OperationsQueueDepth",
          (value) => expect(records(value)).not.to.be.empty,
        ],
        ["webhooks", "an OperationsWebhookBacklog", type.object],
      ],
      () => status.body,
    );
    testFields(
      "AdminOperationsStatus.infrastructure",
      [
        ["status", "a string, of which ok is a value", (value) => expect(value).to.equal("ok")],
        [
          "checks",
          "an object that maps a check's name to a status string",
          (value) => {
            const checks = Object.entries(type.object(value));
            expect(checks).not.to.be.empty;
            for (const [name, one] of checks) {
              expect(name).to.match(/^[a-z]+$/);
              health(one);
            }
            expect(type.object(value)).to.include({ database: "ok", migrations: "ok" });
          },
        ],
      ],
      infrastructure,
    );
    testFields(
      "OperationsProviderHealth",
      [
        ["provider", "a string", type.string],
        ["network", "a string", (value) => expect(value).to.equal("sandbox")],
        ["status", "a string, of which ok is a value", (value) => expect(value).to.equal("ok")],
        ["message", "a string", type.string],
      ],
      () => records(status.body["providers"])[0] ?? {},
    );
    testFields(
      "OperationsQueueDepth",
      [
        ["queue", "a string, the queue's name", (value) => expect(value).to.equal("webhooks")],
        ...["waiting", "active", "delayed", "failed"].map(
          (name) => [name, "an integer", type.integer] as const,
        ),
      ],
      () => records(status.body["queues"])[0] ?? {},
    );
    testFields(
      "OperationsWebhookBacklog",
      ["failed", "deadLetter", "pending", "inProgress"].map(
        (name) => [name, "an integer", type.integer] as const,
      ),
      () => type.object(status.body["webhooks"]),
    );

    it("§4.4 is GET /admin/operations/status without a body, and answers 200 application/json", () => {
      expect(status.status).to.equal(200);
      expect(status.headers.get("Content-Type")).to.match(/^application\/json\b/);
    });

    it("§4.4 is for the platform alone", async () => {
      const { app } = world().estate;
      expectProblem(await app.request("GET", `/v1${statusPath}`), 401, "unauthenticated");
      const refused = await shop.ask("GET", statusPath);
      expectProblem(refused, 403, "forbidden");
      expect(refused.body["detail"]).to.match(/\bplatform\b/);
    });

    it("§6 webhook endpoints get deliveries, which are listed and replayed", async () => {
      const made = await expectStatus(
        shop.home("POST", "/webhook-endpoints", { url: receiver.url }),
        201,
      );
      await expectStatus(shop.home("POST", "/customers", { name: "Customer" }), 201);
      const [delivery] = await until(
        "a delivery",
        () => listed("/webhook-deliveries"),
        ([first]) => first?.["status"] === "succeeded",
      );
      expect(delivery).to.include({
        webhookEndpointId: made.body["id"],
        eventType: "customer.created",
      });
      const path = `/webhook-deliveries/${String(delivery?.["id"])}/replay`;
      const replayed = await expectStatus(shop.home("POST", path), 202);
      expect(replayed.body).to.include({
        replayOf: delivery?.["id"],
        eventId: delivery?.["eventId"],
      });
      await until(
        "the replay",
        () => receiver.requests.length,
        (count) => count >= 2,
      );
    });

    it("§6 the status counts deliveries that failed, apart from those that are done", async () => {
      const before = await backlog();
      receiver.answer(500);
      await expectStatus(shop.home("POST", "/customers", { name: "Another" }), 201);
      const after = await until(
        "a failed delivery",
        backlog,
        ({ failed }) => failed === type.integer(before["failed"]) + 1,
      );
      expect(after["deadLetter"]).to.equal(before["deadLetter"]);
    });
  });
}
