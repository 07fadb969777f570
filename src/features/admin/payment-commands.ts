import { command, neededOrganization, pageFlags } from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import { paymentSorts } from "../payments/filters.ts";
import { paymentStatuses } from "../payments/payment-status.ts";
import { readPaymentQuery } from "../payments/records.ts";
import {
  PlatformPaymentQuery,
  presentPlatformPayment,
  presentPlatformPayments,
} from "./oversight-records.ts";
import { getOwnedPayment, listOwnedPayments } from "./oversight.ts";

export const paymentCommands = [
  command({
    name: "payments list",
    summary: "List payments, newest first",
    flags: [
      {
        ...neededOrganization,
        description: `with --paid-from, --paid-to or another --sort than createdAt: ${neededOrganization.description}; otherwise all`,
        isNeededIf: (call) =>
          (call.flag("paid-from") ?? call.flag("paid-to")) !== undefined ||
          !/^-?createdAt$/.test(call.flag("sort") ?? "createdAt"),
      },
      {
        flags: "--status <status>",
        description: "only payments with this status, or several: confirming,review",
        choices: paymentStatuses,
        isList: true,
      },
      {
        flags: "--invoice-id <id>",
        description: "only payments of this invoice, by its id or your externalId",
      },
      { flags: "--network <id>", description: "only payments on this network" },
      { flags: "--token-symbol <symbol>", description: "only payments in this token" },
      { flags: "--transaction-hash <hash>", description: "only payments of this transaction" },
      { flags: "--from-address <address>", description: "only payments from this address" },
      { flags: "--wallet-id <id>", description: "only payments that this wallet received" },
      {
        flags: "--created-from <time>",
        description: "created at or after this time, such as 2031-01-31T00:00:00.000Z",
      },
      { flags: "--created-to <time>", description: "created before this time" },
      {
        flags: "--paid-from <time>",
        description: "in a block at or after this time",
      },
      {
        flags: "--paid-to <time>",
        description: "in a block before this time",
      },
      {
        flags: "--sort <order>",
        description: "createdAt, blockTime or amount, with a leading - for descending order",
        choices: paymentSorts,
      },
      ...pageFlags,
    ],
    examples: [
      "till payments list",
      "till payments list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status confirmed --json",
    ],
    effect: "read",
    handle(app, call) {
      const query = call.parse(PlatformPaymentQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        organizationId: call.flag("organization"),
        status: call.flag("status"),
        invoiceId: call.flag("invoice-id"),
        network: call.flag("network"),
        tokenSymbol: call.flag("token-symbol"),
        transactionHash: call.flag("transaction-hash"),
        fromAddress: call.flag("from-address"),
        walletId: call.flag("wallet-id"),
        createdFrom: call.flag("created-from"),
        createdTo: call.flag("created-to"),
        paidFrom: call.flag("paid-from"),
        paidTo: call.flag("paid-to"),
        sort: call.flag("sort"),
      });
      return listOwnedPayments(app, readPaymentQuery(query));
    },
    present: presentPlatformPayments,
    columns: [
      "id",
      "organizationName",
      "invoiceId",
      "amount tokenSymbol",
      "network",
      "status",
      {
        title: "Confirmations",
        value: (one) => `${String(one.confirmations)}/${String(one.requiredConfirmations)}`,
      },
      ["isVerified", "Verified"],
      "blockTime",
    ],
  }),
  command({
    name: "payments show",
    summary: "Show a payment of any organization",
    arguments: [{ name: "paymentId", description: "such as pay_01h…" }],
    examples: [
      "till payments show pay_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments show pay_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) => getOwnedPayment(app, call.argument("paymentId") as Id<"payment">),
    present: presentPlatformPayment,
    columns: [
      "id",
      { title: "Organization", value: (one) => `${one.organizationName} (${one.organizationId})` },
      "invoiceId",
      "status",
      "amount tokenSymbol",
      ["settlementAmount settlementCurrency", "Counts as"],
      {
        title: "Rate",
        value: ({ exchangeRate, tokenSymbol, settlementCurrency }) =>
          exchangeRate === null ? null : `${exchangeRate} ${tokenSymbol} per ${settlementCurrency}`,
      },
      "network",
      "transactionHash",
      "fromAddress",
      "toAddress",
      "blockNumber",
      "blockTime",
      {
        title: "Confirmations",
        value: (one) => `${String(one.confirmations)}/${String(one.requiredConfirmations)}`,
      },
      ["isVerified", "Verified"],
      "source",
      "confirmedAt",
    ],
  }),
];
