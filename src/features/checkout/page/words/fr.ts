import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in French. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are those
 * of en.ts with the digest 8b303c81acb1.
 */
export const fr: Catalogue = {
  lang: "fr",
  dir: "ltr",
  name: "Français",

  payTitle: "Payer {amount} à {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Paiement à",
  purpose: "Objet",
  order: "Commande",
  amountToPay: "Montant à payer",
  stillToPay: "Reste à payer",
  onNetwork: "sur le réseau {network}",
  price: "Prix\u00a0: {amount}",
  lastDigits:
    "Les derniers chiffres nous permettent de reconnaître votre paiement. Merci de ne pas arrondir le montant.",
  twoDecimalsShared:
    "Votre portefeuille n’accepte que deux décimales ? Utilisez-en un autre, ou envoyez {rounded} et saisissez l’ID de transaction sur cette page : {merchant} l’attribuera à ce paiement.",
  twoDecimalsOwn: "Votre portefeuille n’accepte que deux décimales ? Envoyez alors {rounded}.",
  arrives:
    "Le montant reçu doit être exactement de {amount}. Si votre plateforme d’échange déduit des frais du montant, ajoutez-les.",
  onlyHere:
    "Envoyez uniquement {token} sur le réseau {network}. Tout autre envoi n’arrivera pas au marchand et ne pourra pas être récupéré.",
  ownCoin:
    "Depuis votre propre portefeuille, il vous faut aussi un peu de {coin} pour les frais de réseau.",
  unnamedCoin:
    "Depuis votre propre portefeuille, il vous faut aussi un peu de la cryptomonnaie du réseau {network} pour les frais.",
  addressOn: "Adresse sur le réseau {network}",
  copyAmount: "Copier le montant",
  copyAddress: "Copier l’adresse",
  copied: "Copié",
  amountCopied: "Montant copié",
  addressCopied: "Adresse copiée",
  copyFailed: "Copie impossible. Sélectionnez le texte",
  openWallet: "Ouvrir le portefeuille",
  showCode: "Afficher le QR code",
  hideCode: "Masquer le QR code",
  scanAddress: "Adresse sur le réseau {network}, sans le montant. Saisissez vous-même {amount}.",
  scanAll: "Adresse, jeton et montant sur le réseau {network}.",
  qrLabel: "QR code\u00a0: payer {amount} sur le réseau {network} à {address}",
  qrAddressLabel: "QR code\u00a0: l’adresse {address} sur le réseau {network}",
  otherCode: "Utiliser un code qui contient le montant",
  scanCheck:
    "Certains portefeuilles lisent mal ce code. Avant de confirmer, vérifiez que le vôtre affiche une adresse de destinataire qui se termine par {ending} et un montant de {amount}. S’il affiche autre chose, n’envoyez rien et utilisez plutôt l’adresse.",
  otherOptions: "Payer avec un autre jeton ou réseau",
  optionsLead:
    "Chaque option a son propre montant et sa propre adresse. Vous avez déjà envoyé quelque chose\u00a0? Alors attendez\u00a0: cela compte quand même, au taux qui vous a été affiché.",
  optionChosen: "Le montant et l’adresse ont changé.",
  optionRefused:
    "Ce moyen de paiement n’est pas disponible pour le moment. Vous pouvez en choisir un autre ou payer comme indiqué ci-dessous.",
  optionsFull:
    "Vous avez choisi autant de moyens de paiement que ce paiement peut en avoir. Vous pouvez encore choisir l’un d’eux.",
  optionClosed:
    "Le moyen de paiement ne peut pas être changé maintenant. Cette page indique la suite.",
  paymentFolded: "Montant et adresse pour payer",
  payBy: "Date limite\u00a0:",
  timeLeft: "Temps restant\u00a0: {time}",
  timeLeftToPay: "Temps restant pour payer\u00a0: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "Payer avec {wallet}",
  walletPay: "Payer avec votre portefeuille",
  walletApps: "Ouvrir cette page dans une application de portefeuille",
  walletWaiting:
    "Votre portefeuille vous demande de confirmer. Vérifiez-y le montant et l’adresse.",
  walletSent:
    "Votre portefeuille a envoyé le paiement. Il apparaîtra ici dès que le réseau l’aura reçu. Merci de ne pas l’envoyer une nouvelle fois.",
  walletUnsubmitted:
    "Votre portefeuille a envoyé le paiement. Nous n’avons pas pu noter la transaction, mais nous la trouverons quand même sur le réseau. Merci de ne pas l’envoyer une nouvelle fois.",
  walletRefused: "Vous avez refusé dans votre portefeuille\u00a0: rien n’a été envoyé.",
  walletWrongNetwork:
    "Votre portefeuille n’est pas sur le réseau {network}. Nous ne lui avons donc rien demandé d’envoyer. Changez de réseau, puis réessayez.",
  walletWrongToken:
    "Votre portefeuille n’a pas pu confirmer qu’il s’agit de {token} sur le réseau {network}. Nous ne lui avons donc rien demandé d’envoyer. Vous pouvez toujours payer à l’adresse indiquée sur cette page.",
  walletTooLittle:
    "Ce compte de votre portefeuille contient moins de {amount}. Nous ne lui avons donc rien demandé d’envoyer.",
  walletSilent:
    "Votre portefeuille ne répond pas. Ouvrez-le et vérifiez\u00a0: si ce paiement y figure comme envoyé ou en attente, n’en envoyez pas d’autre. Sinon, vous pouvez payer à l’adresse indiquée sur cette page.",
  walletFailed:
    "Votre portefeuille a signalé un problème. Vérifiez-y d’abord\u00a0: si ce paiement y figure comme envoyé ou en attente, n’en envoyez pas d’autre.",
  walletChanged:
    "Ce paiement vient de changer. Nous n’avons donc rien demandé à votre portefeuille. Vérifiez d’abord le montant sur cette page.",
  walletOffline:
    "Nous n’avons pas pu lire le montant actuel. Nous n’avons donc rien demandé à votre portefeuille. Réessayez dans un instant.",
  awaitingHeadline: "En attente de votre paiement",
  awaitingLead:
    "Vous avez déjà payé\u00a0? Ne payez pas deux fois\u00a0: votre paiement s’affichera ici. Vous pouvez fermer cette page et y revenir.",
  payAgain:
    "Si votre portefeuille ou votre plateforme d’échange l’affiche malgré tout comme terminée, contactez {contact} en indiquant cette référence\u00a0: {reference}. Sinon, vous pouvez payer de nouveau ci-dessous.",
  lookingLead:
    "Nous cherchons la transaction que vous avez saisie, ce qui prend en général quelques minutes. Si nous ne la trouvons pas en une heure, cette page l’indiquera.",
  lookingNext: "Ne payez pas de nouveau. Vous pouvez fermer cette page et y revenir.",
  lookingOver:
    "Le délai de paiement est écoulé. Si votre paiement est arrivé en retard, {merchant} va l’accepter ou le rembourser.",
  lookingHeadline: "Nous cherchons votre transaction",
  sentFailedHeadline: "Votre transaction a échoué",
  enteredHeadline: "Nous n’avons pas encore trouvé votre paiement",
  missingHeadline: "Nous ne trouvons pas votre transaction",
  missingNext:
    "Regardez dans votre portefeuille ou sur votre plateforme d’échange. Si le paiement y figure comme en attente, patientez. S’il y figure comme échoué, vous avez toujours l’argent. S’il y figure comme terminé, contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  enteredNext:
    "Vous avez payé avec une autre transaction\u00a0? Saisissez son identifiant ci-dessous. Vous avez payé avec celle-ci\u00a0? Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  goneHeadline: "Vérifiez votre portefeuille avant de repayer",
  goneLead:
    "Un paiement que nous avions vu n’est plus sur le réseau. Votre argent n’est pas perdu\u00a0: regardez dans votre portefeuille ou sur votre plateforme d’échange.",
  goneWait:
    "Le paiement y figure comme envoyé ou en attente\u00a0? Patientez et ne payez pas de nouveau. S’il n’est toujours pas ici une heure après l’envoi, contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  goneFailed:
    "Il y figure comme échoué\u00a0? Alors vous avez toujours l’argent et pouvez payer de nouveau ci-dessous.",
  partlyPaidHeadline: "Une partie de votre paiement est arrivée",
  partlyPaidLead:
    "{merchant} a reçu {received} sur {payable}. Envoyez les {remaining} restants pour terminer le paiement.",
  partlyArrived: "{merchant} a reçu jusqu’à présent {received} sur {payable}.",
  partlyPaidSent:
    "Vous avez déjà envoyé le reste\u00a0? Ne l’envoyez pas deux fois\u00a0: il s’affichera ici.",
  partlyPaidElse:
    "Vous n’envoyez pas le reste\u00a0? Une fois le délai de paiement écoulé, vous pourrez demander ici à être remboursé.",
  partlyPaidGone:
    "{merchant} a reçu {received}. Un autre paiement que nous avions vu n’est plus sur le réseau. Cet argent n’est pas perdu\u00a0: regardez dans votre portefeuille ou sur votre plateforme d’échange.",
  partlyPaidFailed:
    "Il y figure comme échoué\u00a0? Alors vous avez toujours cet argent et pouvez envoyer les {remaining} restants ci-dessous.",
  confirmingHeadline: "Paiement détecté",
  confirmingLead:
    "Vous n’avez plus rien à faire et pouvez fermer cette page. Le réseau est en train de confirmer votre paiement. Durée estimée\u00a0: {wait}.",
  confirmationCount: "Confirmations\u00a0: {current} sur {required}",
  waitUnderMinute: "moins d’une minute",
  waitAbout: "environ {time}",
  inReviewHeadline: "Paiement trouvé, en attente de {merchant}",
  inReviewAmountHeadline: "Un montant différent est arrivé",
  inReviewLead:
    "{merchant} va accepter votre paiement ou le rembourser. La décision s’affichera sur cette page. N’envoyez rien d’ici là.",
  inReviewEntered:
    "{merchant} a reçu {arrived}. Nous avons trouvé le paiement grâce à l’identifiant de transaction que vous avez saisi\u00a0; {merchant} vérifie donc d’abord s’il concerne cette commande.",
  inReviewAmount: "{merchant} a reçu {arrived} au lieu de {payable}.",
  inReviewByHand:
    "{merchant} a reçu {arrived}. Les paiements comme celui-ci sont vérifiés à la main.",
  paidHeadline: "Payé",
  paidLead: "Merci\u00a0! {merchant} a bien reçu votre paiement.",
  overpaidHeadline: "Payé. Vous avez envoyé {excess} de trop",
  overpaidLead: "{merchant} a bien reçu votre paiement.",
  sumPaid: "Vous avez payé",
  sumAsked: "Total de la commande",
  sumExcess: "En trop",
  overpaidAction:
    "Pour récupérer {excess}, contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  paidLateHeadline: "Payé et accepté",
  paidLateLead: "Merci\u00a0! {merchant} a accepté votre paiement. Vous n’avez plus rien à faire.",
  paidLateOverpaidLead: "{merchant} a accepté votre paiement.",
  lateHeadline: "Votre paiement est arrivé après le délai",
  lateLead:
    "{merchant} a reçu {arrived} et va accepter votre paiement ou le rembourser. La décision s’affichera sur cette page. N’envoyez rien d’autre.",
  expiredHeadline: "Le délai de paiement est écoulé",
  expiredLead: "Pas encore payé\u00a0? N’envoyez plus rien. Demandez un nouveau lien à {merchant}.",
  expiredElse: "N’envoyez rien maintenant.",
  newLink:
    "Le délai de paiement est lui aussi écoulé, n’envoyez donc rien maintenant. Demandez un nouveau lien à {contact} en indiquant cette référence\u00a0: {reference}.",
  expiredSent:
    "Vous avez déjà payé\u00a0? Ne payez pas une deuxième fois\u00a0: votre paiement peut encore s’afficher ici, gardez donc le lien de cette page. Toujours pas ici une heure après l’envoi\u00a0? Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  paymentMoved:
    "{merchant} a affecté le paiement arrivé ici à une autre facture. N’envoyez rien à cette adresse. Demandez son lien à {contact}.",
  returnedHeadline: "Votre argent vous a été renvoyé",
  returningHeadline: "Votre remboursement est en route",
  returnedLead:
    "{merchant} a renvoyé {returned}. N’envoyez rien maintenant. Vous voulez encore payer\u00a0? Demandez un nouveau lien à {merchant}.",
  expiredPartlyHeadline: "Une partie seulement a été payée",
  expiredPartlyLead:
    "{merchant} a reçu {received} sur {payable}. Le délai de paiement est écoulé, n’envoyez donc plus le reste.",
  expiredPartlyNext:
    "Contactez {contact} au sujet des {received} en indiquant cette référence\u00a0: {reference}.",
  canceledHeadline: "Annulé par {merchant}",
  canceledLead: "{merchant} a annulé cette commande. N’envoyez rien.",
  canceledSent:
    "Vous avez déjà payé\u00a0? Votre paiement s’affichera ici, et vous pourrez alors en demander le remboursement. S’il n’est pas ici une heure après l’envoi, contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  notNeededLead: "{merchant} a reçu {arrived}. N’envoyez rien d’autre.",
  canceledPaidHeadline: "Annulé, mais votre paiement est arrivé",
  canceledPaidLead:
    "{merchant} avait annulé cette commande avant l’arrivée de vos {arrived} et va accepter votre paiement ou le rembourser. La décision s’affichera sur cette page. N’envoyez rien d’autre.",
  cannotCheckHeadline: "Impossible de consulter le réseau pour le moment",
  cannotCheckSince: "Dernière vérification\u00a0: {time}.",
  cannotCheckLead:
    "Vous avez déjà payé\u00a0? Ne payez pas une deuxième fois\u00a0: votre paiement sera retrouvé dès que le réseau {network} sera de nouveau lisible.",
  cannotCheckOpen:
    "Pas encore payé\u00a0? Le mieux est d’attendre que nous puissions de nouveau lire le réseau. Si le délai expire entre-temps, demandez un nouveau lien à {merchant}.",
  cannotCheckOver:
    "Pas encore payé\u00a0? Ne payez pas maintenant. Demandez un nouveau lien à {contact}.",
  cannotCheckOverSent:
    "Nous attendons encore les dernières données du réseau {network}. Vous avez déjà payé\u00a0? Ne payez pas une deuxième fois\u00a0: votre paiement s’affichera ici.",
  notAcceptedHeadline: "Ce moyen de paiement est indisponible",
  notAccepted:
    "N’envoyez pas de {token} sur le réseau {network}\u00a0: {merchant} ne l’accepte pas pour le moment.",
  notAcceptedSent:
    "Vous avez déjà payé\u00a0? L’argent n’est pas perdu\u00a0: il va au portefeuille de {merchant}. Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  notAcceptedElse: "Pas encore payé\u00a0? Demandez à {contact} comment payer autrement.",
  notAcceptedOptions:
    "Pas encore payé\u00a0? Vous pouvez payer ci-dessous avec un autre jeton ou réseau.",
  cannotConfirmNow:
    "Votre paiement a été trouvé, ne l’envoyez donc pas une deuxième fois. Nous ne pouvons pas joindre le réseau {network} pour le moment, le nombre de confirmations n’est donc peut-être pas à jour. Vous pouvez fermer cette page et y revenir.",
  revertedHeadline: "Le réseau doit reconfirmer votre paiement",
  revertedLead:
    "Ne payez pas de nouveau. Le réseau {network} a remplacé ses derniers blocs, ce qui est normal, et doit confirmer votre paiement une deuxième fois. Cela prend en général quelques minutes. Votre argent n’est pas perdu.",
  revertedNext:
    "Vous pouvez fermer cette page et y revenir. Si votre paiement n’est toujours pas confirmé une heure après l’envoi, contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  reverted:
    "Regardez dans votre portefeuille avant d’envoyer quoi que ce soit\u00a0: le réseau n’a pas conservé un paiement qui s’affichait ici. Tant que votre portefeuille l’affiche comme envoyé ou en attente, n’en envoyez pas d’autre.",
  transactionFailed:
    "La transaction que vous avez saisie a échoué sur le réseau. Aucun {token} n’a été envoyé\u00a0: l’argent est toujours chez vous ou sur votre plateforme d’échange.",
  contactIfLong:
    "Pas de décision après un jour\u00a0? Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  contactOrRefund:
    "Pas de décision après un jour, ou vous préférez un remboursement\u00a0? Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  waitOrRefund: "Pour que le remboursement soit possible, indiquez votre adresse ci-dessous.",

  hashQuestion: "Déjà payé, mais rien ne s’affiche ici\u00a0?",
  hashAnother: "Saisir un autre identifiant de transaction",
  hashLead:
    "Collez l’identifiant de votre transaction (TxID ou hash) ou son lien dans un explorateur de blocs. Nous la chercherons sur le réseau {network}.",
  hashLabel: "ID de transaction (TxID ou hash) ou lien",
  hashSend: "Rechercher",
  hashReceived:
    "Merci. Nous cherchons votre transaction\u00a0: elle s’affichera sur cette page dès que nous saurons qu’elle correspond à ce paiement. Ne payez pas deux fois.",
  hashMalformed:
    "{problem} Un identifiant de transaction (TxID ou hash) comporte 64 caractères, ou 66 avec 0x au début. Copiez-le depuis votre portefeuille ou votre plateforme d’échange et collez-le dans le champ ci-dessous.",
  hashTooShort: "C’est trop court.",
  hashTooLong: "C’est trop long.",
  hashWrongCharacter:
    "Ce n’est pas un identifiant de transaction\u00a0: il contient d’autres caractères que des chiffres et les lettres A à F.",
  hashNotInLink: "Nous ne trouvons pas un identifiant de transaction unique dans ce lien.",
  hashIsAddress: "C’est une adresse, pas un identifiant de transaction.",
  hashTooMany:
    "Nous vérifions encore les transactions que vous avez indiquées. Attendez les résultats ou contactez {merchant}.",

  hashSubmitted: "Transactions que vous avez indiquées",
  hashLooking: "Nous cherchons cette transaction.",
  hashUnknown:
    "Le réseau ne connaît pas encore cette transaction. Nous continuons à chercher pendant une heure. Comparez l’identifiant de transaction avec celui de votre portefeuille ou de votre plateforme d’échange.",
  hashGivenUp:
    "Nous avons cherché cette transaction pendant une heure sans la trouver. Vous pouvez saisir à nouveau l’identifiant de transaction.",
  hashDisplaced:
    "Nous n’avons pas trouvé cette transaction et avons cessé de la chercher pour faire place à une plus récente. Saisissez à nouveau l’identifiant de transaction si besoin.",
  hashCounted: "Trouvée. Elle est prise en compte pour ce paiement.",
  hashInReview: "Trouvée. {merchant} décidera si elle correspond à ce paiement.",
  hashReverted:
    "Le réseau n’a pas encore validé définitivement cette transaction. Tant que votre portefeuille l’affiche comme envoyée ou en attente, n’en envoyez pas d’autre.",
  hashFailed: "Cette transaction a échoué sur le réseau\u00a0: aucun {token} n’a été envoyé.",
  hashOtherAddress:
    "Cette transaction est allée à une autre adresse, pas à celle de {merchant}. Regardez dans votre portefeuille ou sur votre plateforme d’échange où elle est allée.",
  hashOtherToken:
    "Cette transaction a envoyé autre chose que {token} sur le réseau {network}. Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  hashTokenDisabled:
    "Nous ne pouvons pas accepter {token} sur le réseau {network} pour le moment. Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  hashTooSmall:
    "Le montant de cette transaction est trop faible pour être pris en compte comme paiement.",
  hashTooEarly:
    "Cette transaction est antérieure à ce paiement\u00a0: elle ne peut donc pas y correspondre.",
  hashTooLate:
    "Cette transaction a été faite longtemps après la fin du délai de paiement. Si elle est allée à l’adresse de ce paiement, {merchant} a l’argent. Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  hashNotForThis:
    "Cette transaction ne correspond pas à cette facture. Si vous pensez le contraire, contactez {contact} en indiquant cette référence\u00a0: {reference}.",

  refundAmount: "Demander le retour de {amount}",
  refundNext:
    "Appuyez sur le bouton et indiquez une adresse de votre propre portefeuille, ou votre adresse de dépôt sur une plateforme d’échange pour {token} sur le réseau {network}. {merchant} envoie le remboursement à la main, et vous verrez ici quand il est en route.",
  refundSoon:
    "Vous pourrez demander un remboursement ici dans quelques minutes, quand le réseau aura confirmé le paiement.",
  refundAsked:
    "Un remboursement de {refund} a été demandé. {merchant} l’envoie à la main, et vous verrez ici quand il est en route. Rien après quelques jours\u00a0? Contactez {contact} en indiquant cette référence\u00a0: {reference}.",
  refundLead:
    "{merchant} peut vous renvoyer ce dont ce paiement n’a pas besoin. Saisissez une adresse à vous\u00a0: celle de votre portefeuille ou votre adresse de dépôt sur une plateforme d’échange. Ne saisissez pas l’adresse depuis laquelle une plateforme a envoyé votre paiement\u00a0: ce qui y est envoyé peut être perdu.",
  refundAddressLabel: "Votre propre adresse sur le réseau {network}",
  refundContinue: "Continuer",
  refundCheck: "Est-ce votre adresse\u00a0?",
  refundCheckLead:
    "Vous demandez à {merchant} d’envoyer {amount} sur le réseau {network} à cette adresse. Comparez chaque caractère avec votre portefeuille\u00a0: ce qui est envoyé à une mauvaise adresse est perdu, et vous ne pourrez plus la modifier.",
  refundSend: "Oui, demander le remboursement",
  refundChange: "La modifier",
  refundReceived:
    "Merci. {merchant} a votre demande. Cette page indiquera quand le remboursement est en route.",
  refundAlready:
    "Un remboursement de ce paiement a déjà été demandé et nous ne l’avons pas modifié. Si ce n’était pas vous, contactez {merchant} dès maintenant en indiquant cette référence\u00a0: {reference}.",
  refundNothing:
    "Nous ne trouvons rien à rembourser dans cette transaction. Saisissez l’identifiant de transaction de votre dernier paiement confirmé sur cette page ou contactez {merchant}.",
  refundTooEarly:
    "Le réseau est encore en train de confirmer votre paiement, ce qui prend en général quelques minutes. Demandez de nouveau le remboursement plus tard. Si cela ne fonctionne toujours pas après une journée, contactez {merchant}.",
  refundBadAddress:
    "Cela ne ressemble pas à une adresse du réseau {network}. Copiez-la de nouveau depuis votre portefeuille.",
  refundAddressRefused:
    "Un remboursement à cette adresse ne vous parviendrait pas. Saisissez une adresse de votre propre portefeuille.",
  refunds: "Remboursements",
  refundRequested: "{amount} vers {address}\u00a0: demandé.",
  refundSent:
    "{amount} vers {address}\u00a0: envoyé par {merchant}. Nous vérifions la transaction.",
  refundConfirmed: "{amount} vers {address}\u00a0: remboursé.",
  refundRejected: "{amount} vers {address}\u00a0: refusé par {merchant}. Motif\u00a0: {reason}",
  refundWithdrawn:
    "{amount} vers {address}\u00a0: retiré, car le paiement est finalement nécessaire ou n’est plus sur le réseau.",

  details: "Détails",
  receipt: "Reçu",
  merchant: "Marchand",
  asked: "Montant demandé",
  invoiced: "Total de la commande",
  received: "Montant reçu",
  excess: "Trop-perçu",
  network: "Réseau",
  reference: "Référence",
  paidAt: "Payé",
  expires: "Date limite",
  expired: "Date limite passée",
  transaction: "Transaction",
  print: "Imprimer le reçu",
  questions: "Une question sur ce paiement\u00a0?",
  askMerchant: "Contactez {merchant} en indiquant cette référence\u00a0:",
  mailSubject: "Paiement {reference}",
  neverAsks:
    "Cette page ne vous demandera jamais la clé privée ni la phrase de récupération de votre portefeuille.",

  downloadReceipt: "Télécharger le reçu",
  verifyTitle: "Vérifier un reçu",
  verifyLead:
    "Collez un reçu ou une demande de paiement signés. La signature montre si le texte vient de ce site et n’a pas été modifié.",
  verifyLabel: "Texte signé",
  verifySend: "Vérifier",
  verifyReceipt: "Ce reçu est authentique",
  verifyRequest: "Cette demande de paiement est authentique",
  verifyRequestLead:
    "Elle a pu être payée ou annulée depuis. Ouvrez la page du paiement avant d’envoyer quoi que ce soit, et comparez l’adresse et le montant avec ceux affichés par votre portefeuille.",
  verifyExpired: "Le délai est dépassé. N’envoyez rien.",
  verifyOpen: "Ouvrir le paiement",
  verifyRefused: "Nous ne pouvons pas vérifier ce texte",
  verifyChanged:
    "Le texte a été modifié ou il en manque une partie. Copiez-le à nouveau en entier.",
  verifyUnknown:
    "Il n’a pas été signé par ce site. S’il vient d’un autre site, vérifiez-le là-bas.",
  verifyNotSigned:
    "Ce n’est pas un texte signé\u00a0: un texte signé est une seule longue ligne de lettres et de chiffres, avec deux fois le signe «\u00a0.\u00a0».",
  verifyAddress: "Adresse",
  signedBy: "Signé par",
  signedOn: "Signé le",

  linkTitle: "Payer {merchant}",
  linkAmount: "Montant en {currency}",
  linkBetween: "De {min} à {max}",
  linkAtLeast: "Au moins {min}",
  linkAtMost: "Au plus {max}",
  linkContinue: "Continuer vers le paiement",
  linkOption: "Jeton et réseau",
  linkBadOption: "Ce moyen de paiement n’est pas disponible ici. Choisissez-en un dans la liste.",
  linkBadAmount: "Ce montant n’est pas possible ici. Vérifiez-le et écrivez-le comme 12.50.",
  linkBroken:
    "Le paiement ne peut pas être commencé, car {merchant} doit d’abord corriger le lien. Rien n’a été envoyé. Contactez {merchant}.",
  linkUnavailable:
    "Le paiement ne peut pas être commencé pour le moment. Rien n’a été envoyé. Réessayez plus tard ou contactez {merchant}.",
  linkScan: "Scannez pour payer {merchant}",
  checkAgain: "Vérifier de nouveau",
  back: "Retour vers {merchant}",
  language: "Langue",
  connectionLost: "Cette page n’est peut-être plus à jour. Nous essayons de l’actualiser.",
  notFoundHeadline: "Ce lien de paiement est introuvable",
  notFoundLead:
    "Vérifiez que le lien est complet, ou demandez à la boutique qui vous l’a donné. Si vous avez déjà payé, ne payez pas une deuxième fois\u00a0: demandez à la boutique.",
  unavailableHeadline: "Vérification impossible pour le moment",
  unavailableLead:
    "Vous avez déjà payé\u00a0? Ne payez pas une deuxième fois\u00a0: votre paiement sera recherché dès que tout fonctionnera de nouveau. Vérifiez dans une minute. Si cette page n’est pas revenue après une heure, demandez à la boutique.",
  busyHeadline: "Un instant, s’il vous plaît",
  busyLead:
    "Cette page vient d’être demandée un très grand nombre de fois, nous faisons donc une courte pause. Vous avez déjà payé\u00a0? Ne payez pas une deuxième fois\u00a0: votre paiement est toujours recherché. Temps d’attente\u00a0: {time}. Vérifiez ensuite de nouveau. Si vous étiez en train de saisir un identifiant de transaction, saisissez-le à nouveau à ce moment-là.",
  refusedHeadline: "Cela n’a pas fonctionné",
  refusedLead:
    "Nous n’avons pas pu lire ce que votre navigateur a envoyé, et rien n’a changé. Revenez à votre paiement et réessayez.",
  failedHeadline: "Une erreur s’est produite de notre côté",
  failedLead:
    "Vous avez déjà payé\u00a0? Ne payez pas une deuxième fois\u00a0: nous recherchons toujours votre paiement sur le réseau. Vérifiez de nouveau dans une minute.",
  formNotReceived:
    "Si vous avez saisi un identifiant de transaction, il ne nous est peut-être pas parvenu. Revenez au paiement et saisissez à nouveau l’identifiant de transaction si la transaction n’y figure pas.",
  failedReference:
    "Si le problème persiste, communiquez cette référence au marchand\u00a0: {reference}",
  homeTitle: "Pages de paiement",
  homeHeadline: "Ici, des marchands reçoivent leurs paiements",
  homeLead:
    "Ce serveur héberge les pages de paiement de marchands qui acceptent les cryptomonnaies. Pour payer, ouvrez le lien complet que le marchand vous a donné.",
  homeDocs: "Pour les développeurs\u00a0: la documentation de l’API",
  testRibbon: "Réseau de test\u00a0: pas d’argent réel",
};
