import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Italian. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are those
 * of en.ts with the digest 8b303c81acb1.
 */
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
  twoDecimalsShared:
    "Il tuo wallet accetta solo due decimali? Usane un altro, oppure invia {rounded} e inserisci l’ID della transazione in questa pagina: {merchant} la assegnerà a questo pagamento.",
  twoDecimalsOwn: "Il tuo wallet accetta solo due decimali? Allora invia {rounded}.",
  arrives:
    "Devono arrivare esattamente {amount}. Se il tuo exchange detrae una commissione dall’importo, aggiungila.",
  onlyHere:
    "Invia solo {token} sulla rete {network}. Qualsiasi altra cosa non arriverà al venditore e non potrà essere recuperata.",
  ownCoin: "Dal tuo wallet personale ti serve anche un po’ di {coin} per la commissione di rete.",
  unnamedCoin:
    "Dal tuo wallet personale ti serve anche un po’ della moneta propria della rete {network} per la commissione di rete.",
  addressOn: "Indirizzo sulla rete {network}",
  copyAmount: "Copia importo",
  copyAddress: "Copia indirizzo",
  copied: "Copiato",
  amountCopied: "Importo copiato",
  addressCopied: "Indirizzo copiato",
  copyFailed: "Copia non riuscita. Seleziona il testo",
  openWallet: "Apri in un wallet",
  showCode: "Mostra il codice QR",
  hideCode: "Nascondi il codice QR",
  scanAddress: "Indirizzo sulla rete {network}, senza l’importo. Inserisci tu {amount}.",
  scanAll: "Indirizzo, token e importo sulla rete {network}.",
  qrLabel: "Codice QR: paga {amount} sulla rete {network} a {address}",
  qrAddressLabel: "Codice QR: l’indirizzo {address} sulla rete {network}",
  otherCode: "Usa un codice che include l’importo",
  scanCheck:
    "Alcuni wallet non leggono bene questo codice. Prima di confermare, il tuo wallet deve mostrare un indirizzo del destinatario che termina con {ending} e un importo di {amount}. Se mostra altro, non inviare nulla e usa l’indirizzo.",
  otherOptions: "Paga con un altro token o un’altra rete",
  optionsLead:
    "Ogni opzione ha un importo e un indirizzo propri. Hai già inviato qualcosa? Allora aspetta: conta comunque, al cambio che ti è stato mostrato.",
  optionChosen: "L’importo e l’indirizzo sono cambiati.",
  optionRefused:
    "Questo modo di pagare non è disponibile al momento. Puoi sceglierne un altro o pagare come indicato sotto.",
  optionsFull:
    "Hai scelto tutti i modi di pagare che questo pagamento può avere. Puoi ancora scegliere uno di quelli.",
  optionClosed:
    "Il modo di pagare non può essere cambiato ora. Questa pagina mostra il passo successivo.",
  paymentFolded: "Importo e indirizzo per pagare",
  payBy: "Paga entro:",
  timeLeft: "Tempo rimasto: {time}",
  timeLeftToPay: "Tempo rimasto per pagare: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "Paga con {wallet}",
  walletPay: "Paga con il tuo wallet",
  walletApps: "Apri questa pagina nell’app di un wallet",
  walletWaiting: "Il tuo wallet ti chiede di confermare. Controlla lì l’importo e l’indirizzo.",
  walletSent:
    "Il tuo wallet ha inviato il pagamento. Comparirà qui non appena la rete lo avrà ricevuto. Non inviarlo di nuovo.",
  walletUnsubmitted:
    "Il tuo wallet ha inviato il pagamento. Non siamo riusciti ad annotare la transazione, ma la troveremo comunque sulla rete. Non inviarlo di nuovo.",
  walletRefused: "Hai rifiutato nel tuo wallet, quindi non è stato inviato nulla.",
  walletWrongNetwork:
    "Il tuo wallet non è sulla rete {network}, quindi non gli abbiamo chiesto di inviare nulla. Cambia rete nel wallet e riprova.",
  walletWrongToken:
    "Il tuo wallet non ha potuto confermare che si tratta di {token} sulla rete {network}, quindi non gli abbiamo chiesto di inviare nulla. Puoi comunque pagare all’indirizzo indicato in questa pagina.",
  walletTooLittle:
    "Questo account del tuo wallet contiene meno di {amount}, quindi non gli abbiamo chiesto di inviare nulla.",
  walletSilent:
    "Il tuo wallet non risponde. Aprilo e controlla: se mostra questo pagamento come inviato o in sospeso, non inviarne un altro. Altrimenti puoi pagare all’indirizzo indicato in questa pagina.",
  walletFailed:
    "Il tuo wallet ha segnalato un problema. Controlla prima lì: se mostra questo pagamento come inviato o in sospeso, non inviarne un altro.",
  walletChanged:
    "Questo pagamento è appena cambiato, quindi non abbiamo chiesto al tuo wallet di inviare nulla. Controlla prima l’importo in questa pagina.",
  walletOffline:
    "Non siamo riusciti a leggere l’importo attuale, quindi non abbiamo chiesto al tuo wallet di inviare nulla. Riprova tra un momento.",
  awaitingHeadline: "In attesa del tuo pagamento",
  awaitingLead:
    "Hai già pagato? Non pagare due volte: il pagamento apparirà qui. Puoi chiudere questa pagina e tornare.",
  payAgain:
    "Se il tuo wallet o exchange la mostra comunque come completata, contatta {contact} e indica questo riferimento: {reference}. Altrimenti puoi pagare di nuovo qui sotto.",
  lookingLead:
    "Stiamo cercando la transazione che hai inserito: di solito servono alcuni minuti. Se non la troviamo entro un’ora, questa pagina lo dirà.",
  lookingNext: "Non pagare di nuovo. Puoi chiudere questa pagina e tornare.",
  lookingOver:
    "Il tempo per pagare è finito. Se il tuo pagamento è arrivato in ritardo, {merchant} lo accetterà o lo rimborserà.",
  lookingHeadline: "Stiamo cercando la tua transazione",
  sentFailedHeadline: "La tua transazione non è riuscita",
  enteredHeadline: "Non abbiamo ancora trovato il tuo pagamento",
  missingHeadline: "Non troviamo la tua transazione",
  missingNext:
    "Guarda nel tuo wallet o exchange. Se mostra il pagamento come in sospeso, attendi. Se lo mostra come non riuscito, hai ancora il denaro. Se lo mostra come completato, contatta {contact} e indica questo riferimento: {reference}.",
  enteredNext:
    "Hai pagato con un’altra transazione? Inserisci qui sotto il suo ID. Hai pagato con questa? Contatta {contact} e indica questo riferimento: {reference}.",
  goneHeadline: "Guarda nel wallet prima di pagare di nuovo",
  goneLead:
    "Un pagamento che avevamo visto non è più sulla rete. Il tuo denaro non è perso: guarda nel tuo wallet o exchange.",
  goneWait:
    "Lì risulta inviato o in sospeso? Attendi e non pagare di nuovo. Se un’ora dopo l’invio non è ancora qui, contatta {contact} e indica questo riferimento: {reference}.",
  goneFailed:
    "Lì risulta non riuscito? Allora hai ancora il denaro e puoi pagare di nuovo qui sotto.",
  partlyPaidHeadline: "È arrivata una parte del tuo pagamento",
  partlyPaidLead:
    "{merchant} ha ricevuto {received} su {payable}. Invia i restanti {remaining} per completare il pagamento.",
  partlyArrived: "{merchant} ha ricevuto finora {received} su {payable}.",
  partlyPaidSent: "Hai già inviato il resto? Non inviarlo due volte: apparirà qui.",
  partlyPaidElse:
    "Non invii il resto? Quando il tempo per pagare sarà finito, potrai chiedere qui indietro il tuo denaro.",
  partlyPaidGone:
    "{merchant} ha ricevuto {received}. Un altro pagamento che avevamo visto non è più sulla rete. Quel denaro non è perso: guarda nel tuo wallet o exchange.",
  partlyPaidFailed:
    "Lì risulta non riuscito? Allora hai ancora quel denaro e puoi inviare qui sotto i restanti {remaining}.",
  confirmingHeadline: "Pagamento rilevato",
  confirmingLead:
    "Non devi fare altro e puoi chiudere questa pagina. La rete sta confermando il tuo pagamento. Tempo previsto: {wait}.",
  confirmationCount: "Conferme: {current} su {required}",
  waitUnderMinute: "meno di un minuto",
  waitAbout: "circa {time}",
  inReviewHeadline: "Pagamento trovato, in attesa di {merchant}",
  inReviewAmountHeadline: "È arrivato un importo diverso",
  inReviewLead:
    "{merchant} accetterà il tuo pagamento o lo rimborserà. La decisione apparirà in questa pagina. Non inviare nulla fino ad allora.",
  inReviewEntered:
    "{merchant} ha ricevuto {arrived}. Abbiamo trovato il pagamento con l’ID della transazione che hai inserito, quindi {merchant} controlla prima se riguarda questo ordine.",
  inReviewAmount: "{merchant} ha ricevuto {arrived} invece di {payable}.",
  inReviewByHand:
    "{merchant} ha ricevuto {arrived}. I pagamenti come questo vengono controllati a mano.",
  paidHeadline: "Pagato",
  paidLead: "Grazie! {merchant} ha ricevuto il tuo pagamento.",
  overpaidHeadline: "Pagato. Hai inviato {excess} in più",
  overpaidLead: "{merchant} ha ricevuto il tuo pagamento.",
  sumPaid: "Hai pagato",
  sumAsked: "Totale dell’ordine",
  sumExcess: "In più",
  overpaidAction:
    "Per riavere {excess}, contatta {contact} e indica questo riferimento: {reference}.",
  paidLateHeadline: "Pagato e accettato",
  paidLateLead: "Grazie! {merchant} ha accettato il tuo pagamento. Non devi fare altro.",
  paidLateOverpaidLead: "{merchant} ha accettato il tuo pagamento.",
  lateHeadline: "Il tuo pagamento è arrivato a tempo finito",
  lateLead:
    "{merchant} ha ricevuto {arrived} e accetterà il tuo pagamento o lo rimborserà. La decisione apparirà in questa pagina. Non inviare altro.",
  expiredHeadline: "Il tempo per pagare è finito",
  expiredLead:
    "Non hai ancora pagato? Non inviare nulla adesso. Chiedi a {merchant} un nuovo link.",
  expiredElse: "Non inviare nulla adesso.",
  newLink:
    "Anche il tempo per pagare è finito, quindi non inviare nulla adesso. Chiedi un nuovo link a {contact} e indica questo riferimento: {reference}.",
  expiredSent:
    "Hai già pagato? Non pagare di nuovo: il pagamento può ancora apparire qui, quindi conserva il link a questa pagina. Un’ora dopo l’invio non è ancora qui? Contatta {contact} e indica questo riferimento: {reference}.",
  paymentMoved:
    "{merchant} ha assegnato il pagamento arrivato qui a un’altra fattura. Non inviare nulla a questo indirizzo. Chiedi il suo link a {contact}.",
  returnedHeadline: "Il tuo denaro è stato restituito",
  returningHeadline: "Il tuo rimborso è in arrivo",
  returnedLead:
    "{merchant} ha restituito {returned}. Non inviare nulla adesso. Vuoi ancora pagare? Chiedi a {merchant} un nuovo link.",
  expiredPartlyHeadline: "È stata pagata solo una parte",
  expiredPartlyLead:
    "{merchant} ha ricevuto {received} su {payable}. Il tempo per pagare è finito, quindi non inviare più il resto.",
  expiredPartlyNext:
    "Contatta {contact} per i {received} e indica questo riferimento: {reference}.",
  canceledHeadline: "Annullato da {merchant}",
  canceledLead: "{merchant} ha annullato questo ordine. Non inviare nulla.",
  canceledSent:
    "Hai già pagato? Il pagamento apparirà qui e allora potrai chiederne il rimborso. Se un’ora dopo l’invio non è qui, contatta {contact} e indica questo riferimento: {reference}.",
  notNeededLead: "{merchant} ha ricevuto {arrived}. Non inviare altro.",
  canceledPaidHeadline: "Annullato, ma il tuo pagamento è arrivato",
  canceledPaidLead:
    "{merchant} aveva annullato questo ordine prima che arrivassero i tuoi {arrived} e accetterà il tuo pagamento o lo rimborserà. La decisione apparirà in questa pagina. Non inviare altro.",
  cannotCheckHeadline: "Al momento non riusciamo a controllare la rete",
  cannotCheckSince: "Ultimo controllo: {time}.",
  cannotCheckLead:
    "Hai già pagato? Non pagare di nuovo: il tuo pagamento verrà trovato appena la rete {network} sarà di nuovo leggibile.",
  cannotCheckOpen:
    "Non hai ancora pagato? È meglio attendere finché potremo leggere di nuovo la rete. Se intanto il tempo scade, chiedi a {merchant} un nuovo link.",
  cannotCheckOver: "Non hai ancora pagato? Non pagare adesso. Chiedi un nuovo link a {contact}.",
  cannotCheckOverSent:
    "Aspettiamo ancora gli ultimi dati dalla rete {network}. Hai già pagato? Non pagare di nuovo: il tuo pagamento apparirà qui.",
  notAcceptedHeadline: "Al momento non puoi pagare in questo modo",
  notAccepted: "Non inviare {token} sulla rete {network}: al momento {merchant} non li accetta.",
  notAcceptedSent:
    "Hai già pagato? Il denaro non è perso: va al wallet di {merchant}. Contatta {contact} e indica questo riferimento: {reference}.",
  notAcceptedElse: "Non hai ancora pagato? Chiedi a {contact} come pagare in un altro modo.",
  notAcceptedOptions:
    "Non hai ancora pagato? Puoi pagare qui sotto con un altro token o un’altra rete.",
  cannotConfirmNow:
    "Il tuo pagamento è stato trovato, quindi non inviarlo di nuovo. Al momento non riusciamo a raggiungere la rete {network}, perciò il numero di conferme potrebbe non essere aggiornato. Puoi chiudere questa pagina e tornare.",
  revertedHeadline: "La rete deve riconfermare il tuo pagamento",
  revertedLead:
    "Non pagare di nuovo. La rete {network} ha sostituito i suoi ultimi blocchi, il che è normale, e deve confermare il tuo pagamento una seconda volta. Di solito servono alcuni minuti. Il tuo denaro non è perso.",
  revertedNext:
    "Puoi chiudere questa pagina e tornare. Se un’ora dopo l’invio il tuo pagamento non è ancora confermato, contatta {contact} e indica questo riferimento: {reference}.",
  reverted:
    "Guarda nel tuo wallet prima di inviare qualsiasi cosa: la rete non ha conservato un pagamento che prima appariva qui. Finché il tuo wallet lo mostra come inviato o in sospeso, non inviarne un altro.",
  transactionFailed:
    "La transazione che hai inserito non è riuscita sulla rete. Nessun {token} è stato inviato: il denaro è ancora da te o presso il tuo exchange.",
  contactIfLong:
    "Nessuna decisione dopo un giorno? Contatta {contact} e indica questo riferimento: {reference}.",
  contactOrRefund:
    "Nessuna decisione dopo un giorno, o preferisci un rimborso? Contatta {contact} e indica questo riferimento: {reference}.",
  waitOrRefund: "Perché possa essere rimborsato, lascia qui sotto il tuo indirizzo.",

  hashQuestion: "Hai già pagato, ma qui non si vede?",
  hashAnother: "Inserisci un altro ID di transazione",
  hashLead:
    "Incolla l’ID della tua transazione (TxID o hash) o il link del block explorer. La cercheremo sulla rete {network}.",
  hashLabel: "ID della transazione (TxID o hash) o link",
  hashSend: "Cerca",
  hashReceived:
    "Grazie. Stiamo cercando la tua transazione: apparirà in questa pagina appena sapremo che riguarda questo pagamento. Non pagare due volte.",
  hashMalformed:
    "{problem} L’ID di una transazione (TxID o hash) ha 64 caratteri, o 66 con 0x all’inizio. Copialo dal tuo wallet o exchange e incollalo nel campo qui sotto.",
  hashTooShort: "È troppo corto.",
  hashTooLong: "È troppo lungo.",
  hashWrongCharacter:
    "Questo non è l’ID di una transazione: contiene caratteri diversi dalle cifre e dalle lettere da A a F.",
  hashNotInLink: "Non troviamo un solo ID di transazione in questo link.",
  hashIsAddress: "Questo è un indirizzo, non l’ID di una transazione.",
  hashTooMany:
    "Stiamo ancora controllando le transazioni che ci hai indicato. Attendi i risultati o contatta {merchant}.",

  hashSubmitted: "Transazioni che ci hai indicato",
  hashLooking: "Stiamo cercando questa transazione.",
  hashUnknown:
    "La rete non conosce ancora questa transazione. Continueremo a provare per un’ora. Confronta l’ID della transazione con quello nel tuo wallet o exchange.",
  hashGivenUp:
    "Abbiamo cercato questa transazione per un’ora senza trovarla. Puoi inserire di nuovo l’ID della transazione.",
  hashDisplaced:
    "Non abbiamo trovato questa transazione e abbiamo smesso di cercarla per fare posto a una più recente. Se serve, inserisci di nuovo l’ID della transazione.",
  hashCounted: "Trovata. Vale per questo pagamento.",
  hashInReview: "Trovata. {merchant} deciderà se riguarda questo pagamento.",
  hashReverted:
    "La rete non ha ancora confermato in modo definitivo questa transazione. Finché il tuo wallet la mostra come inviata o in sospeso, non inviarne un’altra.",
  hashFailed:
    "Questa transazione non è riuscita sulla rete, quindi non è stato inviato alcun {token}.",
  hashOtherAddress:
    "Questa transazione è andata a un altro indirizzo, non a quello di {merchant}. Guarda nel tuo wallet o exchange dove è andata.",
  hashOtherToken:
    "Questa transazione ha inviato qualcosa di diverso da {token} sulla rete {network}. Contatta {contact} e indica questo riferimento: {reference}.",
  hashTokenDisabled:
    "Al momento non possiamo accettare {token} sulla rete {network}. Contatta {contact} e indica questo riferimento: {reference}.",
  hashTooSmall: "Questa transazione ha inviato troppo poco per valere come pagamento.",
  hashTooEarly: "Questa transazione è precedente a questo pagamento, quindi non può riguardarlo.",
  hashTooLate:
    "Questa transazione è stata fatta molto dopo la fine del tempo per pagare. Se è andata all’indirizzo di questo pagamento, {merchant} ha il denaro. Contatta {contact} e indica questo riferimento: {reference}.",
  hashNotForThis:
    "Questa transazione non è un pagamento di questa fattura. Se pensi che lo sia, contatta {contact} e indica questo riferimento: {reference}.",

  refundAmount: "Chiedi indietro {amount}",
  refundNext:
    "Premi il pulsante e indica un indirizzo del tuo wallet, o il tuo indirizzo di deposito presso un exchange per {token} sulla rete {network}. {merchant} invia il rimborso a mano, e qui vedrai quando è in viaggio.",
  refundSoon:
    "Potrai chiedere qui un rimborso tra qualche minuto, quando la rete avrà confermato il pagamento.",
  refundAsked:
    "È stato chiesto il rimborso di {refund}. {merchant} lo invia a mano, e qui vedrai quando è in viaggio. Ancora nulla dopo qualche giorno? Contatta {contact} e indica questo riferimento: {reference}.",
  refundLead:
    "{merchant} può restituirti ciò che non serve a questo pagamento. Inserisci un indirizzo tuo: quello del tuo wallet o il tuo indirizzo di deposito presso un exchange. Non inserire l’indirizzo da cui un exchange ha inviato il tuo pagamento: ciò che viene inviato lì può andare perso.",
  refundAddressLabel: "Un tuo indirizzo sulla rete {network}",
  refundContinue: "Continua",
  refundCheck: "È questo il tuo indirizzo?",
  refundCheckLead:
    "Stai chiedendo a {merchant} di inviare {amount} sulla rete {network} a questo indirizzo. Confronta ogni carattere con il tuo wallet: ciò che viene inviato a un indirizzo sbagliato è perso, e dopo non potrai cambiarlo.",
  refundSend: "Sì, chiedi il rimborso",
  refundChange: "Cambialo",
  refundReceived:
    "Grazie. {merchant} ha la tua richiesta. Questa pagina mostrerà quando il rimborso è in viaggio.",
  refundAlready:
    "Per questo pagamento è già stato chiesto un rimborso, e non lo abbiamo modificato. Se non sei stato tu, contatta subito {merchant} e indica questo riferimento: {reference}.",
  refundNothing:
    "In questa transazione non troviamo nulla da rimborsare. Inserisci l’ID della transazione del tuo ultimo pagamento confermato su questa pagina oppure contatta {merchant}.",
  refundTooEarly:
    "La rete sta ancora confermando il tuo pagamento; di solito servono alcuni minuti. Chiedi di nuovo il rimborso più tardi. Se entro un giorno non funziona, contatta {merchant}.",
  refundBadAddress:
    "Non sembra un indirizzo della rete {network}. Copialo di nuovo dal tuo wallet.",
  refundAddressRefused:
    "Un rimborso a questo indirizzo non ti arriverebbe. Inserisci un indirizzo del tuo wallet.",
  refunds: "Rimborsi",
  refundRequested: "{amount} a {address}: richiesto.",
  refundSent: "{amount} a {address}: inviato da {merchant}. Stiamo controllando la transazione.",
  refundConfirmed: "{amount} a {address}: rimborsato.",
  refundRejected: "{amount} a {address}: rifiutato da {merchant}. Motivo: {reason}",
  refundWithdrawn:
    "{amount} a {address}: ritirato, perché il pagamento serve comunque o non è più sulla rete.",

  details: "Dettagli",
  receipt: "Ricevuta",
  merchant: "Venditore",
  asked: "Importo richiesto",
  invoiced: "Totale dell’ordine",
  received: "Importo ricevuto",
  excess: "Pagato in più",
  network: "Rete",
  reference: "Riferimento",
  paidAt: "Pagato",
  expires: "Paga entro",
  expired: "Tempo finito",
  transaction: "Transazione",
  print: "Stampa la ricevuta",
  questions: "Domande su questo pagamento?",
  askMerchant: "Contatta {merchant} e indica questo riferimento:",
  mailSubject: "Pagamento {reference}",
  neverAsks:
    "Questa pagina non ti chiederà mai la chiave privata né la frase di recupero del tuo wallet.",

  downloadReceipt: "Scarica la ricevuta",
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

  linkTitle: "Paga {merchant}",
  linkAmount: "Importo in {currency}",
  linkBetween: "Da {min} a {max}",
  linkAtLeast: "Almeno {min}",
  linkAtMost: "Al massimo {max}",
  linkContinue: "Continua al pagamento",
  linkOption: "Token e rete",
  linkBadOption: "Questo modo di pagare non è disponibile qui. Scegline uno dall’elenco.",
  linkBadAmount: "Questo importo non è possibile qui. Controllalo e scrivilo come 12.50.",
  linkBroken:
    "Il pagamento non può essere avviato, perché {merchant} deve prima correggere il link. Non è stato inviato nulla. Contatta {merchant}.",
  linkUnavailable:
    "Il pagamento non può essere avviato in questo momento. Non è stato inviato nulla. Riprova più tardi o contatta {merchant}.",
  linkScan: "Scansiona per pagare {merchant}",
  checkAgain: "Controlla di nuovo",
  back: "Torna a {merchant}",
  language: "Lingua",
  connectionLost: "Questa pagina potrebbe non essere aggiornata. Stiamo provando ad aggiornarla.",
  notFoundHeadline: "Non troviamo questo link di pagamento",
  notFoundLead:
    "Controlla che il link sia completo o chiedi al negozio che te lo ha dato. Se hai già pagato, non pagare di nuovo: chiedi al negozio.",
  unavailableHeadline: "Al momento non possiamo controllare",
  unavailableLead:
    "Hai già pagato? Non pagare di nuovo: il tuo pagamento verrà cercato appena tutto funzionerà di nuovo. Controlla tra un minuto. Se questa pagina non torna entro un’ora, chiedi al negozio.",
  busyHeadline: "Un momento, per favore",
  busyLead:
    "Questa pagina ha appena ricevuto moltissime richieste, quindi facciamo una breve pausa. Hai già pagato? Non pagare di nuovo: stiamo ancora cercando il tuo pagamento. Tempo di attesa: {time}. Poi controlla di nuovo. Se stavi inserendo l’ID di una transazione, inseriscilo di nuovo in quel momento.",
  refusedHeadline: "Non ha funzionato",
  refusedLead:
    "Non siamo riusciti a leggere quello che ha inviato il tuo browser e nulla è cambiato. Torna al pagamento e riprova.",
  failedHeadline: "Qualcosa è andato storto da parte nostra",
  failedLead:
    "Hai già pagato? Non pagare di nuovo: stiamo ancora cercando il tuo pagamento sulla rete. Controlla di nuovo tra un minuto.",
  formNotReceived:
    "Se hai inserito l’ID di una transazione, forse non lo abbiamo ricevuto. Torna al pagamento e inserisci di nuovo l’ID se lì la transazione non compare.",
  failedReference: "Se continua a succedere, invia questo riferimento al venditore: {reference}",
  homeTitle: "Pagine di pagamento",
  homeHeadline: "Qui i venditori ricevono i pagamenti",
  homeLead:
    "Questo server mostra le pagine di pagamento di venditori che accettano criptovalute. Per pagare, apri il link completo che ti ha dato il venditore.",
  homeDocs: "Per sviluppatori: la documentazione dell’API",
  testRibbon: "Rete di test: non è denaro vero",
};
