import { hour, minute } from "../../../src/kernel/clock.ts";
import { aHash, aPayment, inUsd, inUsdt, startOfTime, type Lab, type LabNetwork } from "./lab.ts";
import { aState } from "./lab.ts";

/** The page of each state: its name, its headline, and the data that leads to it. */
export interface Scene {
  readonly name: string;
  readonly state: string;
  readonly nextAction: string;
  readonly headline: string;
  set(lab: Lab, network: LabNetwork): void;
}

export const received = (text: string, left = "0.00") => ({
  received: inUsdt(text),
  remaining: inUsdt(left),
  paidAmount: inUsd(text.slice(0, 5)),
});
const paymentId = (letter: string) => `pay_01jd7v0000000000000000000${letter}` as const;
const afterEnd = startOfTime + 2 * hour;

function later(lab: Lab, network: LabNetwork): void {
  lab.world.at = afterEnd;
  lab.world.networkState = aState(network, afterEnd);
}

export const scenes: readonly Scene[] = [
  {
    name: "awaiting",
    state: "awaiting",
    nextAction: "pay",
    headline: "Waiting for your payment",
    set: () => undefined,
  },
  {
    name: "partly paid",
    state: "partly_paid",
    nextAction: "pay",
    headline: "Part of your payment has arrived",
    set(lab) {
      lab.world.payments = [aPayment({ amount: inUsdt("10.00").units })];
      lab.change({ status: "partially_paid", ...received("10.00", "15.0001") });
    },
  },
  {
    name: "confirming",
    state: "confirming",
    nextAction: "wait",
    headline: "Payment detected",
    set(lab) {
      lab.world.payments = [aPayment({ status: "confirming" })];
      const required = lab.world.invoice?.confirmations.required ?? 0;
      lab.change({
        status: "confirming",
        ...received("25.0001"),
        confirmations: { current: 2, required },
      });
    },
  },
  {
    name: "in review",
    state: "in_review",
    nextAction: "wait",
    headline: "Payment found, waiting for Café Zürich",
    set(lab) {
      lab.world.payments = [aPayment({ status: "review" })];
      lab.change({});
    },
  },
  {
    name: "reverted",
    state: "reverted",
    nextAction: "wait",
    headline: "The network must confirm your payment again",
    set(lab) {
      lab.world.payments = [aPayment({ status: "reverted", isExpectedBack: true })];
      lab.change({ exception: "reverted" });
    },
  },
  {
    name: "paid",
    state: "paid",
    nextAction: "none",
    headline: "Paid",
    set(lab) {
      lab.world.payments = [
        aPayment({ amount: inUsdt("10.00").units }),
        aPayment({
          id: paymentId("b"),
          transactionHash: aHash("b"),
          amount: inUsdt("15.0001").units,
        }),
        aPayment({ id: paymentId("c"), transactionHash: aHash("c"), status: "reverted" }),
        // Somebody entered the hash of another payment: nothing of it can be refunded here.
        aPayment({
          id: paymentId("d"),
          transactionHash: aHash("d"),
          status: "rejected",
          rule: "submitted_hash",
        }),
      ];
      lab.change({ status: "paid", ...received("25.0001"), paidAt: startOfTime + minute });
    },
  },
  {
    name: "overpaid",
    state: "overpaid",
    nextAction: "request_refund",
    headline: "Paid. You sent 4.9999 USDT too much",
    set(lab) {
      lab.world.payments = [aPayment({ amount: inUsdt("30.00").units })];
      lab.change({
        status: "paid",
        exception: "overpaid",
        ...received("30.00"),
        paidAt: startOfTime + minute,
      });
    },
  },
  {
    name: "expired unpaid",
    state: "expired_unpaid",
    nextAction: "request_new_link",
    headline: "The time to pay is over",
    set(lab, network) {
      later(lab, network);
      lab.change({ status: "expired" });
    },
  },
  {
    name: "expired partly paid",
    state: "expired_partly_paid",
    nextAction: "request_refund",
    headline: "Only part was paid",
    set(lab, network) {
      later(lab, network);
      lab.world.payments = [aPayment({ amount: inUsdt("10.00").units })];
      lab.change({
        status: "expired",
        exception: "underpaid",
        ...received("10.00", "15.0001"),
      });
    },
  },
  {
    name: "paid late",
    state: "paid_late",
    nextAction: "none",
    headline: "Paid and accepted",
    set(lab, network) {
      later(lab, network);
      lab.world.payments = [aPayment({ blockTime: afterEnd - minute })];
      lab.change({
        status: "paid",
        exception: "late",
        ...received("25.0001"),
        paidAt: afterEnd - minute,
      });
    },
  },
  {
    name: "late and not accepted yet",
    state: "late_review",
    nextAction: "wait",
    headline: "Your payment arrived after the time to pay",
    set(lab, network) {
      later(lab, network);
      lab.world.payments = [aPayment({ status: "review", blockTime: afterEnd - minute })];
      lab.change({ status: "expired" });
    },
  },
  {
    name: "canceled",
    state: "canceled",
    nextAction: "contact_merchant",
    headline: "Canceled by Café Zürich",
    set(lab) {
      lab.change({ status: "canceled" });
    },
  },
  {
    name: "canceled, and money came",
    state: "canceled_review",
    nextAction: "wait",
    headline: "Canceled, but your payment has arrived",
    set(lab) {
      lab.world.payments = [aPayment({ status: "review" })];
      lab.change({ status: "canceled" });
    },
  },
  {
    name: "cannot check now",
    state: "cannot_check",
    nextAction: "pay",
    headline: "We can't check the network right now",
    set(lab, network) {
      const state = aState(network, startOfTime);
      lab.world.at = startOfTime + 20 * minute;
      lab.world.networkState = state;
    },
  },
  {
    name: "cannot check, and the time is over",
    state: "cannot_check",
    nextAction: "check_again",
    headline: "The time to pay is over",
    set(lab) {
      lab.change({});
      lab.world.at = startOfTime + hour;
    },
  },
];
