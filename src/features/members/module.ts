import type { FeatureModule } from "../../api/declare/feature-module.ts";
import type { InvitationService } from "./invitations.ts";
import { invitationOperations, memberOperations } from "./operations.ts";
import { pruneInvitations } from "./retention.ts";
import type { MemberService } from "./service.ts";

export const membersModule: FeatureModule<{
  readonly memberService: MemberService;
  readonly invitationService: InvitationService;
}> = {
  operations: { memberService: memberOperations, invitationService: invitationOperations },
  prunings: { "prune invitations": pruneInvitations },
};
