import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import type { MembershipRecord, UserRecord } from "./records.ts";
import type { MembershipView, UserView } from "./store.ts";

export function presentUser(user: UserView): z.input<typeof UserRecord> {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    platformRole: user.platformRole,
    createdAt: toIso(user.createdAt),
  };
}

export function presentMembership(view: MembershipView): z.input<typeof MembershipRecord> {
  return {
    id: view.id,
    userId: view.userId,
    organizationId: view.organizationId,
    organizationName: view.organizationName,
    email: view.email,
    name: view.name,
    role: view.role,
    createdAt: toIso(view.createdAt),
  };
}
