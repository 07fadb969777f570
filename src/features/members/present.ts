import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import type { CreatedInvitation, InvitationView } from "./invitations.ts";
import {
  InvitationRecord,
  MembershipRecord,
  UserRecord,
  type CreatedInvitationRecord,
} from "./records.ts";
import type { MembershipView, UserView } from "./store.ts";

export function presentUser(user: UserView): z.input<typeof UserRecord> {
  return presentRow(UserRecord, user);
}

export function presentMembership(view: MembershipView): z.input<typeof MembershipRecord> {
  return presentRow(MembershipRecord, view);
}

export function presentInvitation(view: InvitationView): z.input<typeof InvitationRecord> {
  return presentRow(InvitationRecord, view);
}

export function presentCreatedInvitation(
  created: CreatedInvitation,
): z.input<typeof CreatedInvitationRecord> {
  return { ...presentInvitation(created.invitation), token: created.token };
}
