import type { Catalogue } from "./en.ts";

/** The payers' texts in Italian. Machine translation of en.ts, not yet reviewed by a native speaker. */
export const it: Catalogue = {
  lang: "it",
  dir: "ltr",
  name: "Italiano",

  payTitle: "Paga {amount} a {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Pagamento a",
  purpose: "Causale",
  order: "Ordine",
  amountToPay: "Importo da pagare",
  stillToPay: "Resta da pagare",
  onNetwork: "sulla rete {network}",
  price: "Prezzo: {amount}",
  lastDigits:
    "Le ultime cifre ci permettono di riconoscere il tuo pagamento: non arrotondare l’importo.",
  arrives:
    "Devono arrivare esattamente {amount}, fino all’ultimo decimale. Se paghi da un exchange, aggiungi la sua commissione di prelievo.",
  onlyHere:
    "Invia solo {token} sulla rete {network}. Qualsiasi altra cosa non arriverà al venditore e non potrà essere recuperata.",
  ownCoin: "Ti serve anche un po’ di {coin} per la commissione di rete.",
  unnamedCoin:
    "Ti serve anche un po’ della moneta propria della rete {network} per la commissione di rete.",
  addressOn: "Indirizzo sulla rete {network}",
  copyAmount: "Copia importo",
  copyAddress: "Copia indirizzo",
  copied: "Copiato",
  amountCopied: "Importo copiato",
  addressCopied: "Indirizzo copiato",
  copyFailed: "Copia non riuscita. Seleziona il testo",
  openWallet: "Apri in un wallet",
  showCode: "Mostra il codice QR",
  scanAddress: "Indirizzo sulla rete {network}, senza l’importo. Inserisci tu {amount}.",
  scanAll: "Indirizzo, token e importo sulla rete {network}.",
  qrLabel: "Codice QR: paga {amount} sulla rete {network} a {address}",
  qrAddressLabel: "Codice QR: l’indirizzo {address} sulla rete {network}",
  otherCode: "Usa un codice che include l’importo",
  scanCheck:
    "Alcuni wallet non leggono bene questo codice. Prima di confermare, il tuo wallet deve mostrare un indirizzo del destinatario che termina con {ending} e un importo di {amount}. Se mostra altro, non inviare nulla e usa l’indirizzo.",
  payBy: "Paga entro:",
  timeLeft: "Tempo rimasto: {time}",
  timeLeftToPay: "Tempo rimasto per pagare: {time}",
  dayTime: "{day}, {time}",

  awaitingHeadline: "In attesa del tuo pagamento",
  awaitingLead: "Il tuo pagamento apparirà qui appena la rete lo avrà ricevuto.",
  partlyPaidHeadline: "È arrivata una parte del tuo pagamento",
  partlyPaidLead:
    "Abbiamo ricevuto {received} su {payable}. Invia i restanti {remaining} per completare il pagamento.",
  confirmingHeadline: "Pagamento rilevato",
  confirmingLead:
    "La rete lo sta confermando. Tempo previsto: {wait}. Non devi fare altro e puoi chiudere questa pagina.",
  confirmationCount: "Conferme: {current} su {required}",
  waitUnderMinute: "meno di un minuto",
  waitAbout: "circa {time}",
  inReviewHeadline: "Pagamento trovato, in attesa del venditore",
  inReviewLead:
    "Abbiamo trovato un pagamento che {merchant} deve ancora accettare. Non inviarlo di nuovo: la decisione apparirà in questa pagina.",
  paidHeadline: "Pagato",
  paidLead: "Grazie! {merchant} ha ricevuto il tuo pagamento.",
  overpaidHeadline: "Pagato, ma hai inviato troppo",
  overpaidLead:
    "Abbiamo ricevuto {received}, cioè {excess} in più. {merchant} ha ricevuto il tuo pagamento.",
  overpaidAction:
    "Per il rimborso della differenza, contatta {merchant} e indica il riferimento qui sotto.",
  paidLateHeadline: "Pagato in ritardo",
  paidLateLead:
    "Il tuo pagamento è arrivato dopo la scadenza e {merchant} lo ha accettato. Non devi fare altro.",
  paidLateOverpaidLead:
    "Il tuo pagamento è arrivato dopo la scadenza e {merchant} lo ha accettato. Abbiamo ricevuto {received}, cioè {excess} in più.",
  lateHeadline: "Il tuo pagamento è arrivato in ritardo",
  lateLead:
    "È arrivato dopo la scadenza, quindi {merchant} deciderà come gestirlo. Non inviare altro.",
  expiredHeadline: "Questo pagamento è scaduto",
  expiredLead: "Non inviare nulla al suo indirizzo adesso. Chiedi a {merchant} un nuovo link.",
  expiredSent:
    "Hai già pagato? Troveremo comunque il tuo pagamento. Conserva il link a questa pagina e, se il pagamento non appare presto, contatta {merchant} e indica il riferimento qui sotto.",
  expiredPartlyHeadline: "Scaduto, pagato solo in parte",
  expiredPartlyLead:
    "Abbiamo ricevuto {received} su {payable} e il termine è scaduto. Non inviare il resto adesso.",
  canceledHeadline: "Annullato dal venditore",
  canceledLead: "{merchant} ha annullato questo pagamento. Non inviare nulla al suo indirizzo.",
  canceledPaidHeadline: "Annullato, ma è arrivato un pagamento",
  canceledPaidLead:
    "È arrivato un pagamento anche se {merchant} aveva annullato la richiesta. {merchant} lo esaminerà e deciderà come gestirlo. Non inviare altro.",
  cannotCheckHeadline: "Al momento non riusciamo a controllare la rete",
  cannotCheckLead:
    "Il tuo pagamento è al sicuro: troveremo tutto quello che hai inviato appena la rete {network} sarà di nuovo leggibile. Non pagare due volte.",
  cannotCheckOpen:
    "Non hai ancora pagato? Puoi ancora farlo: conta il momento in cui la rete include il pagamento.",
  cannotCheckOver:
    "Non hai ancora pagato? Non farlo adesso: il termine è scaduto o sta per scadere. Controlla di nuovo tra un minuto.",
  notAccepted:
    "Al momento {merchant} non accetta pagamenti con questo token sulla rete {network}, quindi non inviare nulla. Hai già pagato? Contatta {merchant} e indica il riferimento qui sotto.",
  cannotConfirmNow:
    "Al momento la rete {network} non è leggibile, quindi il numero di conferme potrebbe non essere aggiornato. Il tuo pagamento è al sicuro.",
  revertedHeadline: "Per ora il pagamento non è più sulla blockchain",
  revertedLead:
    "La rete {network} ha sostituito i suoi blocchi più recenti e il tuo pagamento era in uno di questi. Di solito torna entro pochi minuti. Non inviarlo di nuovo.",
  revertedNext:
    "Puoi chiudere questa pagina e ricontrollare più tardi. Se il pagamento non torna, contatta {merchant} e indica il riferimento qui sotto.",
  reverted:
    "La rete ha annullato un pagamento che prima appariva qui, e non è tornato. Cercalo nel tuo wallet prima di inviare qualsiasi cosa: finché lì risulta inviato o in sospeso, non inviarne un altro.",
  transactionFailed:
    "L’ultima transazione segnalata non è riuscita sulla rete e non ha spostato denaro. Anche il tuo wallet dovrebbe mostrarla come non riuscita.",
  contact: "Contatta {merchant} e indica il riferimento qui sotto.",
  lastChecked: "Ultimo controllo",
  never: "Non ancora",

  hashQuestion: "Hai già pagato, ma qui non si vede?",
  hashLead:
    "Incolla l’hash della tua transazione o il link del block explorer. La cercheremo sulla rete {network}.",
  hashLabel: "Hash della transazione (TxID) o link",
  hashSend: "Cerca",
  hashReceived:
    "Grazie. Stiamo cercando la tua transazione: apparirà in questa pagina appena sapremo che riguarda questo pagamento. Non pagare due volte.",
  hashMalformed:
    "Non sembra l’hash di una transazione. Un hash ha 64 cifre e lettere dalla a alla f e può iniziare con 0x. Copialo dal tuo wallet o exchange e incollalo di nuovo.",
  hashTooMany:
    "Stiamo ancora controllando le transazioni che ci hai indicato. Attendi i risultati o contatta il venditore.",

  hashSubmitted: "Transazioni che ci hai indicato",
  hashLooking: "Stiamo cercando questa transazione.",
  hashUnknown:
    "La rete non conosce ancora questa transazione. Continueremo a provare per un’ora. Controlla di aver copiato bene l’hash.",
  hashGivenUp: "Non troviamo questa transazione. Se ora è sulla rete, inserisci di nuovo l’hash.",
  hashDisplaced:
    "Non abbiamo trovato questa transazione e abbiamo smesso di cercarla per fare posto a una più recente. Se serve, inserisci di nuovo l’hash.",
  hashCounted: "Trovata. Vale per questo pagamento.",
  hashInReview: "Trovata. {merchant} deciderà se riguarda questo pagamento.",
  hashReverted:
    "La rete ha sostituito il blocco con questa transazione. Finché il tuo wallet la mostra come inviata o in sospeso, non inviarne un’altra.",
  hashFailed:
    "Questa transazione non è riuscita sulla rete, quindi non è stato inviato alcun {token}.",
  hashOtherAddress:
    "Questa transazione non ha inviato nulla all’indirizzo di questo pagamento. Controlla nel tuo wallet dove è andata.",
  hashOtherToken:
    "Questa transazione ha inviato qualcosa di diverso da {token} sulla rete {network}, quindi non vale. Contatta {merchant} e indica il riferimento.",
  hashTokenDisabled:
    "Al momento non possiamo accettare {token} sulla rete {network}. Contatta {merchant} e indica il riferimento.",
  hashTooSmall: "Questa transazione ha inviato troppo poco per valere come pagamento.",
  hashTooEarly: "Questa transazione è precedente a questo pagamento, quindi non può riguardarlo.",
  hashTooLate:
    "Il termine è scaduto da troppo tempo per poter abbinare questa transazione. Contatta {merchant} e indica il riferimento.",
  hashNotForThis:
    "Questa transazione non è un pagamento di questa fattura. Se pensi che lo sia, contatta {merchant} e indica il riferimento.",

  details: "Dettagli",
  receipt: "Ricevuta",
  merchant: "Venditore",
  asked: "Importo dovuto",
  invoiced: "Importo della fattura",
  received: "Importo ricevuto",
  excess: "Pagato in più",
  network: "Rete",
  reference: "Riferimento",
  paidAt: "Pagato il",
  expires: "Scadenza",
  expired: "Scaduto",
  transaction: "Transazione",
  print: "Stampa la ricevuta",
  questions: "Domande su questo pagamento?",
  askMerchant: "Contatta {merchant} e indica questo riferimento:",
  mailSubject: "Pagamento {reference}",
  neverAsks:
    "Questa pagina non ti chiederà mai la chiave privata né la frase di recupero del tuo wallet.",

  downloadReceipt: "Scarica la ricevuta firmata",
  verifyTitle: "Verifica una ricevuta",
  verifyLead:
    "Incolla una ricevuta o una richiesta di pagamento firmata. La firma mostra se il testo proviene da questo sito e non è stato modificato.",
  verifyLabel: "Testo firmato",
  verifySend: "Verifica",
  verifyReceipt: "Questa ricevuta è autentica",
  verifyRequest: "Questa richiesta di pagamento è autentica",
  verifyRequestLead:
    "Nel frattempo potrebbe essere stata pagata o annullata. Apri la pagina del pagamento prima di inviare qualcosa e confronta l’indirizzo e l’importo con quelli mostrati dal tuo wallet.",
  verifyExpired: "Il termine è scaduto. Non inviare nulla.",
  verifyOpen: "Apri il pagamento",
  verifyRefused: "Non possiamo verificare questo testo",
  verifyChanged: "Il testo è stato modificato o ne manca una parte. Copialo di nuovo per intero.",
  verifyUnknown: "Non è stato firmato da questo sito. Se proviene da un altro sito, verificalo lì.",
  verifyNotSigned:
    "Questo non è un testo firmato. Un testo firmato è una sola lunga riga di lettere e cifre con due punti fermi all’interno.",
  verifyAddress: "Indirizzo",
  signedBy: "Firmata da",
  signedOn: "Firmata il",

  checkAgain: "Controlla di nuovo",
  back: "Torna a {merchant}",
  language: "Lingua",
  connectionLost: "Questa pagina potrebbe non essere aggiornata. Stiamo provando ad aggiornarla.",
  notFoundHeadline: "Non troviamo questo pagamento",
  notFoundLead: "Controlla il link o chiedine uno nuovo al venditore.",
  unavailableHeadline: "Al momento non possiamo controllare",
  unavailableLead:
    "Il tuo pagamento è al sicuro. Attendi un momento, poi controlla di nuovo. Non pagare due volte.",
  busyHeadline: "Un momento, per favore",
  busyLead:
    "Questa pagina ha appena ricevuto moltissime richieste, quindi facciamo una breve pausa. Il tuo pagamento è al sicuro. Tempo di attesa: {time}. Poi controlla di nuovo. Se stavi inserendo l’hash di una transazione, inseriscilo di nuovo in quel momento. Non pagare due volte.",
  refusedHeadline: "Non ha funzionato",
  refusedLead:
    "Non siamo riusciti a leggere quello che ha inviato il tuo browser e nulla è cambiato. Torna al pagamento e riprova.",
  failedHeadline: "Qualcosa è andato storto da parte nostra",
  failedLead:
    "Se hai già pagato, il tuo pagamento è al sicuro: lo troveremo sulla rete. Controlla di nuovo tra un minuto e non pagare due volte.",
  formNotReceived:
    "Se hai inserito l’hash di una transazione, forse non lo abbiamo ricevuto. Torna al pagamento e inserisci di nuovo l’hash se lì la transazione non compare.",
  failedReference: "Se continua a succedere, invia questo riferimento al venditore: {reference}",
  homeTitle: "Pagine di pagamento",
  homeHeadline: "Qui i venditori ricevono i pagamenti",
  homeLead:
    "Questo server mostra le pagine di pagamento di venditori che accettano criptovalute. Per pagare, apri il link completo che ti ha dato il venditore.",
  homeDocs: "Per sviluppatori: la documentazione dell’API",
  testRibbon: "Rete di test: non è denaro vero",
};
