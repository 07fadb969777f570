// A server that is asked to stop while receivers keep it waiting: what an operator's SIGTERM does.
import { expect } from "chai";
import { webhookDeliveries } from "../../../src/features/webhooks/table.ts";
import { send } from "../../support/app.ts";
import { makeInstallation, type Installation } from "../../support/programs/program.ts";
import { anyStore } from "../../support/store/stores.ts";
import { init, till } from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";

const slowMs = 2_000;
const dripMs = 100;

interface Delivery {
  readonly webhookEndpointId: string;
  readonly status: string;
  readonly attempts: number;
}

anyStore("a server stopped while it delivers webhooks", (store) => {
  const receivers: Receiver[] = [];
  let installation: Installation;
  let place: Awaited<ReturnType<typeof store.place>>;

  before(async () => {
    const settings = { TILL_NETWORKS: "sandbox", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" };
    place = await store.place("migrated");
    installation = await makeInstallation(settings, place);
  });
  after(async () => {
    await installation.remove();
    for (const receiver of receivers) await receiver.close();
  });

  async function receiver(...respond: Parameters<typeof startReceiver>): Promise<Receiver> {
    const made = await startReceiver(...respond);
    receivers.push(made);
    return made;
  }

  it("exits with 0 after it returned its leases, keeps recorded results, and sends again what it cut off", async () => {
    const silent = await receiver(() => undefined);
    const dripping = await receiver((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("."), dripMs);
      response.once("close", () => {
        clearInterval(drip);
      });
    });
    const slow = await receiver((_request, response) => {
      setTimeout(() => response.end("ok"), slowMs);
    });
    const { env } = installation;
    const made = await init([], { env });
    const { organization } = JSON.parse(made.stdout) as { organization: { id: string } };
    const words = ["--organization", organization.id, "--name", "shop", "--scopes", "read,write"];
    const created = await till(["key", "create", ...words, "--json"], { env });
    const { secret: key } = JSON.parse(created.stdout) as { secret: string };
    const base = `/v1/organizations/${organization.id}`;
    const server = await installation.serve();
    const post = async (path: string, body: unknown) => {
      const answer = await send(server.url, "POST", `${base}${path}`, { key, body });
      expect(answer.status, answer.text).to.equal(201);
      return answer.body["id"] as string;
    };
    const endpointIds: string[] = [];
    for (const { port } of receivers) {
      const url = `http://127.0.0.1:${String(port)}/hook`;
      endpointIds.push(await post("/webhook-endpoints", { url, eventTypes: ["customer.created"] }));
    }
    await post("/customers", { name: "Ada" });
    const told = () => receivers.map(({ requests }) => requests.length);
    await until("a request at each", told, (counts) => counts.every((count) => count > 0));

    expect(await server.stop()).to.equal(0);

    const asked = await till(["webhook", "deliveries", "--json"], { env });
    const { data } = JSON.parse(asked.stdout) as { data: Delivery[] };
    const standing = endpointIds.map((id) =>
      data
        .filter(({ webhookEndpointId }) => webhookEndpointId === id)
        .map(({ status, attempts }) => ({ status, attempts })),
    );
    expect(standing).to.deep.equal([
      [{ status: "pending", attempts: 0 }],
      [{ status: "pending", attempts: 0 }],
      [{ status: "succeeded", attempts: 1 }],
    ]);
    expect(told()).to.deep.equal([1, 1, 1]);
    // A server that exits because its time is over leaves its leases behind.
    const db = await store.open(place);
    const leases = await db.find(webhookDeliveries, "WHERE lease_token IS NOT NULL");
    expect(leases.map(({ id }) => id)).to.deep.equal([]);

    // Returned deliveries do not wait for a lease to expire.
    await installation.serve();
    await until(
      "the interrupted deliveries",
      told,
      ([first, second]) => first === 2 && second === 2,
    );
    for (const { requests } of [silent, dripping]) {
      const ids = requests.map(({ headers }) => headers["till-delivery-id"]);
      expect(ids[1]).to.equal(ids[0]);
    }
    expect(slow.requests).to.have.length(1);
  });
});
