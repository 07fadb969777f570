import type { Case } from "./case.ts";
import { connections } from "./cases/connection.ts";
import { newcomers } from "./cases/newcomer.ts";
import { parallel } from "./cases/parallel.ts";
import { payments } from "./cases/payments.ts";
import { returnPages } from "./cases/return-page.ts";
import { settings } from "./cases/settings.ts";
import { shopChanges } from "./cases/shop-changes.ts";

/** All cases, in the order in which they are tried. */
export const cases: readonly Case[] = [
  ...payments,
  ...shopChanges,
  ...returnPages,
  ...settings,
  ...parallel,
  ...connections,
  ...newcomers,
];
