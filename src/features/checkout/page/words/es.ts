import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Spanish. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are those
 * of en.ts with the digest 8b303c81acb1.
 */
export const es: Catalogue = {
  lang: "es",
  dir: "ltr",
  name: "Español",

  payTitle: "Pagar {amount} a {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Pago a",
  purpose: "Concepto",
  order: "Pedido",
  amountToPay: "Importe a pagar",
  stillToPay: "Queda por pagar",
  onNetwork: "en la red {network}",
  price: "Precio: {amount}",
  lastDigits:
    "Los últimos dígitos nos permiten reconocer tu pago, así que no redondees el importe.",
  twoDecimalsShared:
    "¿Tu monedero solo admite dos decimales? Usa otro, o envía {rounded} e introduce el ID de la transacción en esta página: {merchant} lo asignará a este pago.",
  twoDecimalsOwn: "¿Tu monedero solo admite dos decimales? Entonces envía {rounded}.",
  arrives:
    "Deben llegar exactamente {amount}. Si tu exchange descuenta una comisión del importe, súmala.",
  onlyHere:
    "Envía solo {token} y solo por la red {network}. Cualquier otra cosa no llegará al comercio y no se podrá recuperar.",
  ownCoin:
    "Desde tu propia billetera, también necesitas un poco de {coin} para la comisión de red.",
  unnamedCoin:
    "Desde tu propia billetera, también necesitas un poco de la moneda propia de {network} para la comisión de red.",
  addressOn: "Dirección en la red {network}",
  copyAmount: "Copiar importe",
  copyAddress: "Copiar dirección",
  copied: "Copiado",
  amountCopied: "Importe copiado",
  addressCopied: "Dirección copiada",
  copyFailed: "No se pudo copiar. Selecciona el texto",
  openWallet: "Abrir en una billetera",
  showCode: "Mostrar el código QR",
  hideCode: "Ocultar el código QR",
  scanAddress: "Dirección en la red {network}, sin el importe. Introduce {amount} a mano.",
  scanAll: "Dirección, token e importe en la red {network}.",
  qrLabel: "Código QR: pagar {amount} en la red {network} a {address}",
  qrAddressLabel: "Código QR: la dirección {address} en la red {network}",
  otherCode: "Usar un código que incluye el importe",
  scanCheck:
    "Algunas billeteras no leen bien este código. Antes de confirmar, la tuya debe mostrar una dirección de destino que termine en {ending} y un importe de {amount}. Si muestra otra cosa, no envíes nada y usa la dirección.",
  otherOptions: "Pagar con otro token o red",
  optionsLead:
    "Cada opción tiene su propio importe y su propia dirección. ¿Ya enviaste algo? Entonces espera: sigue contando, al tipo de cambio que se te mostró.",
  optionChosen: "El importe y la dirección han cambiado.",
  optionRefused:
    "Esa forma de pago no está disponible ahora. Puedes elegir otra o pagar como se indica abajo.",
  optionsFull:
    "Has elegido tantas formas de pago como admite este pago. Todavía puedes elegir una de ellas.",
  optionClosed:
    "La forma de pago no se puede cambiar ahora. Esta página muestra el siguiente paso.",
  paymentFolded: "Importe y dirección para pagar",
  payBy: "Fecha límite:",
  timeLeft: "Tiempo restante: {time}",
  timeLeftToPay: "Tiempo restante para pagar: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "Pagar con {wallet}",
  walletPay: "Pagar con tu billetera",
  walletApps: "Abrir esta página en la aplicación de una billetera",
  walletWaiting: "Tu billetera te pide que confirmes. Comprueba allí el importe y la dirección.",
  walletSent:
    "Tu billetera ha enviado el pago. Aparecerá aquí en cuanto la red lo tenga. No lo envíes otra vez.",
  walletUnsubmitted:
    "Tu billetera ha enviado el pago. No hemos podido anotar la transacción, pero la encontraremos en la red de todos modos. No lo envíes otra vez.",
  walletRefused: "Lo has rechazado en tu billetera, así que no se ha enviado nada.",
  walletWrongNetwork:
    "Tu billetera no está en la red {network}, así que no le hemos pedido que envíe nada. Cambia de red en ella y vuelve a intentarlo.",
  walletWrongToken:
    "Tu billetera no ha podido confirmar que se trata de {token} en la red {network}, así que no le hemos pedido que envíe nada. Aún puedes pagar a la dirección de esta página.",
  walletTooLittle:
    "Esta cuenta de tu billetera tiene menos de {amount}, así que no le hemos pedido que envíe nada.",
  walletSilent:
    "Tu billetera no responde. Ábrela y compruébalo: si este pago figura allí como enviado o pendiente, no envíes otro. Si no, puedes pagar a la dirección de esta página.",
  walletFailed:
    "Tu billetera ha comunicado un problema. Míralo allí primero: si este pago figura como enviado o pendiente, no envíes otro.",
  walletChanged:
    "Este pago acaba de cambiar, así que no le hemos pedido a tu billetera que envíe nada. Comprueba antes el importe en esta página.",
  walletOffline:
    "No hemos podido leer el importe actual, así que no le hemos pedido a tu billetera que envíe nada. Vuelve a intentarlo en un momento.",
  awaitingHeadline: "Esperando tu pago",
  awaitingLead:
    "¿Ya lo enviaste? No lo envíes dos veces: aparecerá aquí. Puedes cerrar esta página y volver.",
  payAgain:
    "Si aun así tu billetera o exchange la muestra como completada, ponte en contacto con {contact} e indica esta referencia: {reference}. Si no, puedes pagar de nuevo abajo.",
  lookingLead:
    "Estamos buscando la transacción que introdujiste, lo que suele tardar unos minutos. Si no la encontramos en una hora, esta página lo dirá.",
  lookingNext: "No pagues otra vez. Puedes cerrar esta página y volver.",
  lookingOver:
    "El tiempo para pagar ha terminado. Si tu pago llegó tarde, {merchant} lo aceptará o lo reembolsará.",
  lookingHeadline: "Buscando tu transacción",
  sentFailedHeadline: "Tu transacción ha fallado",
  enteredHeadline: "Todavía no hemos encontrado tu pago",
  missingHeadline: "No encontramos tu transacción",
  missingNext:
    "Mira en tu billetera o exchange. Si muestra el pago como pendiente, espera. Si lo muestra como fallido, todavía tienes el dinero. Si lo muestra como completado, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  enteredNext:
    "¿Pagaste con otra transacción? Introduce abajo su ID. ¿Pagaste con esta? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  goneHeadline: "Mira en tu billetera antes de pagar otra vez",
  goneLead:
    "Un pago que habíamos visto ya no está en la red. Tu dinero no se ha perdido: mira en tu billetera o exchange.",
  goneWait:
    "¿Aparece allí como enviado o pendiente? Espera y no pagues otra vez. Si una hora después de enviarlo sigue sin aparecer aquí, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  goneFailed:
    "¿Aparece allí como fallido? Entonces todavía tienes el dinero y puedes pagar de nuevo abajo.",
  partlyPaidHeadline: "Ha llegado una parte de tu pago",
  partlyPaidLead:
    "{merchant} ha recibido {received} de {payable}. Envía los {remaining} restantes para completar el pago.",
  partlyArrived: "{merchant} ha recibido hasta ahora {received} de {payable}.",
  partlyPaidSent: "¿Ya enviaste el resto? No lo envíes dos veces: aparecerá aquí.",
  partlyPaidElse:
    "¿No envías el resto? Cuando termine el tiempo para pagar, podrás pedir aquí que te devuelvan el dinero.",
  partlyPaidGone:
    "{merchant} ha recibido {received}. Otro pago que habíamos visto ya no está en la red. Ese dinero no se ha perdido: mira en tu billetera o exchange.",
  partlyPaidFailed:
    "¿Aparece allí como fallido? Entonces todavía tienes ese dinero y puedes enviar abajo los {remaining} restantes.",
  confirmingHeadline: "Pago detectado",
  confirmingLead:
    "No tienes que hacer nada más y puedes cerrar esta página. La red está confirmando tu pago. Tiempo estimado: {wait}.",
  confirmationCount: "Confirmaciones: {current} de {required}",
  waitUnderMinute: "menos de un minuto",
  waitAbout: "aproximadamente {time}",
  inReviewHeadline: "Pago encontrado, a la espera de {merchant}",
  inReviewAmountHeadline: "Ha llegado un importe distinto",
  inReviewLead:
    "{merchant} aceptará tu pago o lo reembolsará. La decisión aparecerá en esta página. No envíes nada hasta entonces.",
  inReviewEntered:
    "{merchant} ha recibido {arrived}. Encontramos el pago con el ID de transacción que introdujiste, así que {merchant} comprueba primero si es de este pedido.",
  inReviewAmount: "{merchant} ha recibido {arrived} en lugar de {payable}.",
  inReviewByHand: "{merchant} ha recibido {arrived}. Los pagos como este se comprueban a mano.",
  paidHeadline: "Pagado",
  paidLead: "¡Gracias! {merchant} ha recibido tu pago.",
  overpaidHeadline: "Pagado. Enviaste {excess} de más",
  overpaidLead: "{merchant} ha recibido tu pago.",
  sumPaid: "Has pagado",
  sumAsked: "Total del pedido",
  sumExcess: "De más",
  overpaidAction:
    "Para recuperar {excess}, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  paidLateHeadline: "Pagado y aceptado",
  paidLateLead: "¡Gracias! {merchant} ha aceptado tu pago. No tienes que hacer nada más.",
  paidLateOverpaidLead: "{merchant} ha aceptado tu pago.",
  lateHeadline: "Tu pago llegó cuando el tiempo había terminado",
  lateLead:
    "{merchant} ha recibido {arrived} y aceptará tu pago o lo reembolsará. La decisión aparecerá en esta página. No envíes nada más.",
  expiredHeadline: "El tiempo para pagar ha terminado",
  expiredLead: "¿Aún no lo enviaste? No envíes nada ahora. Pide a {merchant} un enlace nuevo.",
  expiredElse: "No envíes nada ahora.",
  newLink:
    "El tiempo para pagar también ha terminado, así que no envíes nada ahora. Pide un enlace nuevo a {contact} e indica esta referencia: {reference}.",
  expiredSent:
    "¿Ya lo enviaste? No lo envíes otra vez: todavía puede aparecer aquí, así que guarda el enlace de esta página. ¿Sigue sin aparecer aquí una hora después de enviarlo? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  paymentMoved:
    "{merchant} ha asignado el pago que llegó aquí a otra factura. No envíes nada a esta dirección. Pide su enlace a {contact}.",
  returnedHeadline: "Tu dinero ha sido devuelto",
  returningHeadline: "Tu reembolso está en camino",
  returnedLead:
    "{merchant} ha devuelto {returned}. No envíes nada ahora. ¿Todavía quieres pagar? Pide a {merchant} un enlace nuevo.",
  expiredPartlyHeadline: "Solo se pagó una parte",
  expiredPartlyLead:
    "{merchant} ha recibido {received} de {payable}. El tiempo para pagar ha terminado, así que ya no envíes el resto.",
  expiredPartlyNext:
    "Ponte en contacto con {contact} por los {received} e indica esta referencia: {reference}.",
  canceledHeadline: "Cancelado por {merchant}",
  canceledLead: "{merchant} ha cancelado este pedido. No envíes nada.",
  canceledSent:
    "¿Ya lo enviaste? Aparecerá aquí, y entonces podrás pedir que te lo devuelvan. Si una hora después de enviarlo no aparece aquí, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  notNeededLead: "{merchant} ha recibido {arrived}. No envíes nada más.",
  canceledPaidHeadline: "Cancelado, pero tu pago ha llegado",
  canceledPaidLead:
    "{merchant} canceló este pedido antes de que llegaran tus {arrived}, y aceptará tu pago o lo reembolsará. La decisión aparecerá en esta página. No envíes nada más.",
  cannotCheckHeadline: "Ahora mismo no podemos consultar la red",
  cannotCheckSince: "Última comprobación: {time}.",
  cannotCheckLead:
    "¿Ya lo enviaste? No lo envíes otra vez: tu pago se encontrará en cuanto se pueda volver a leer la red {network}.",
  cannotCheckOpen:
    "¿Aún no has pagado? Lo mejor es esperar hasta que podamos leer de nuevo la red. Si mientras tanto se acaba el tiempo, pide a {merchant} un enlace nuevo.",
  cannotCheckOver: "¿Aún no has pagado? No pagues ahora. Pide un enlace nuevo a {contact}.",
  cannotCheckOverSent:
    "Todavía esperamos los últimos datos de la red {network}. ¿Ya lo enviaste? No lo envíes otra vez: tu pago aparecerá aquí.",
  notAcceptedHeadline: "Ahora no puedes pagar de esta forma",
  notAccepted: "No envíes {token} en la red {network}: {merchant} no lo acepta por ahora.",
  notAcceptedSent:
    "¿Ya lo enviaste? No se ha perdido: va a la billetera de {merchant}. Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  notAcceptedElse: "¿Aún no has pagado? Pregunta a {contact} cómo pagar de otra forma.",
  notAcceptedOptions: "¿Aún no has pagado? Abajo puedes pagar con otro token o en otra red.",
  cannotConfirmNow:
    "Tu pago se ha encontrado, así que no lo envíes otra vez. Ahora mismo no podemos acceder a la red {network}, por lo que el número de confirmaciones puede no estar al día. Puedes cerrar esta página y volver.",
  revertedHeadline: "La red debe volver a confirmar tu pago",
  revertedLead:
    "No pagues otra vez. La red {network} ha reemplazado sus bloques más recientes, lo que es normal, y tiene que confirmar tu pago por segunda vez. Suele tardar unos minutos. Tu dinero no se ha perdido.",
  revertedNext:
    "Puedes cerrar esta página y volver. Si una hora después de enviarlo tu pago sigue sin confirmarse, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  reverted:
    "Mira en tu billetera antes de enviar nada: la red no ha conservado un pago que antes aparecía aquí. Mientras tu billetera lo muestre como enviado o pendiente, no envíes otro.",
  transactionFailed:
    "La transacción que introdujiste falló en la red. No se envió {token}: el dinero lo sigues teniendo tú o tu exchange.",
  contactIfLong:
    "¿No hay decisión después de un día? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  contactOrRefund:
    "¿No hay decisión después de un día, o prefieres un reembolso? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  waitOrRefund: "Para asegurarte de que se pueda reembolsar, deja abajo tu dirección.",

  hashQuestion: "¿Ya pagaste, pero no lo ves aquí?",
  hashAnother: "Introducir otro ID de transacción",
  hashLead:
    "Pega el ID de tu transacción (TxID o hash) o su enlace en un explorador de bloques. La buscaremos en la red {network}.",
  hashLabel: "ID de la transacción (TxID o hash) o enlace",
  hashSend: "Buscar",
  hashReceived:
    "Gracias. Estamos buscando tu transacción y aparecerá en esta página cuando sepamos que corresponde a este pago. No pagues dos veces.",
  hashMalformed:
    "{problem} Un ID de transacción (TxID o hash) tiene 64 caracteres, o 66 si empieza por 0x. Cópialo de tu billetera o exchange y pégalo en el campo de abajo.",
  hashTooShort: "Esto es demasiado corto.",
  hashTooLong: "Esto es demasiado largo.",
  hashWrongCharacter:
    "Esto no es un ID de transacción: contiene caracteres que no son cifras ni letras de la A a la F.",
  hashNotInLink: "No encontramos un único ID de transacción en este enlace.",
  hashIsAddress: "Esto es una dirección, no un ID de transacción.",
  hashTooMany:
    "Todavía estamos comprobando las transacciones que nos indicaste. Espera los resultados o ponte en contacto con {merchant}.",

  hashSubmitted: "Transacciones que nos indicaste",
  hashLooking: "Estamos buscando esta transacción.",
  hashUnknown:
    "La red todavía no conoce esta transacción. Seguiremos intentándolo durante una hora. Compara el ID de transacción con el de tu billetera o exchange.",
  hashGivenUp:
    "Hemos buscado esta transacción durante una hora y no la encontramos. Puedes introducir otra vez el ID de transacción.",
  hashDisplaced:
    "No encontramos esta transacción y hemos dejado de buscarla para dar paso a una más reciente. Si lo necesitas, introduce el ID de transacción otra vez.",
  hashCounted: "Encontrada. Cuenta para este pago.",
  hashInReview: "Encontrada. {merchant} decidirá si corresponde a este pago.",
  hashReverted:
    "La red todavía no ha confirmado esta transacción de forma definitiva. Mientras tu billetera la muestre como enviada o pendiente, no envíes otra.",
  hashFailed: "Esta transacción falló en la red, así que no se envió ningún {token}.",
  hashOtherAddress:
    "Esta transacción fue a otra dirección, no a la de {merchant}. Mira en tu billetera o exchange adónde fue.",
  hashOtherToken:
    "Esta transacción envió algo distinto de {token} en la red {network}. Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  hashTokenDisabled:
    "Por ahora no podemos aceptar {token} en la red {network}. Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  hashTooSmall: "Esta transacción envió demasiado poco para contar como pago.",
  hashTooEarly: "Esta transacción es anterior a este pago, así que no puede corresponder a él.",
  hashTooLate:
    "Esta transacción se hizo mucho después de que terminara el tiempo para pagar. Si fue a la dirección de este pago, {merchant} tiene el dinero. Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  hashNotForThis:
    "Esta transacción no es un pago de esta factura. Si crees que lo es, ponte en contacto con {contact} e indica esta referencia: {reference}.",

  refundAmount: "Pedir que devuelvan {amount}",
  refundNext:
    "Pulsa el botón e indica una dirección de tu propia billetera, o tu dirección de depósito en un exchange para {token} en la red {network}. {merchant} envía el reembolso a mano, y aquí verás cuándo está en camino.",
  refundSoon:
    "Podrás pedir aquí un reembolso en unos minutos, cuando la red haya confirmado el pago.",
  refundAsked:
    "Se ha pedido la devolución de {refund}. {merchant} lo envía a mano, y aquí verás cuándo está en camino. ¿Nada después de unos días? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  refundLead:
    "{merchant} puede devolverte lo que este pago no necesita. Escribe una dirección tuya: la de tu billetera o tu dirección de depósito en un exchange. No escribas la dirección desde la que un exchange envió tu pago: lo que se envíe allí puede perderse.",
  refundAddressLabel: "Tu propia dirección en la red {network}",
  refundContinue: "Continuar",
  refundCheck: "¿Es esta tu dirección?",
  refundCheckLead:
    "Estás pidiendo a {merchant} que envíe {amount} por la red {network} a esta dirección. Compara cada carácter con tu billetera: lo que se envía a una dirección equivocada se pierde, y no podrás cambiarla después.",
  refundSend: "Sí, pedir el reembolso",
  refundChange: "Cambiarla",
  refundReceived:
    "Gracias. {merchant} tiene tu solicitud. Esta página mostrará cuándo está en camino el reembolso.",
  refundAlready:
    "Ya se ha pedido un reembolso de este pago y no lo hemos cambiado. Si no fuiste tú, ponte en contacto ahora con {merchant} e indica esta referencia: {reference}.",
  refundNothing:
    "No encontramos nada que reembolsar en esta transacción. Escribe el ID de transacción de tu último pago confirmado en esta página o ponte en contacto con {merchant}.",
  refundTooEarly:
    "La red todavía está confirmando tu pago, lo que suele tardar unos minutos. Vuelve a pedir el reembolso más tarde. Si en un día no funciona, ponte en contacto con {merchant}.",
  refundBadAddress:
    "Eso no parece una dirección de la red {network}. Cópiala de nuevo de tu billetera.",
  refundAddressRefused:
    "Un reembolso a esta dirección no te llegaría. Escribe una dirección de tu propia billetera.",
  refunds: "Reembolsos",
  refundRequested: "{amount} a {address}: solicitado.",
  refundSent: "{amount} a {address}: enviado por {merchant}. Estamos comprobando la transacción.",
  refundConfirmed: "{amount} a {address}: reembolsado.",
  refundRejected: "{amount} a {address}: rechazado por {merchant}. Motivo: {reason}",
  refundWithdrawn:
    "{amount} a {address}: retirado, porque el pago hace falta al final o ya no está en la red.",

  details: "Detalles",
  receipt: "Recibo",
  merchant: "Comercio",
  asked: "Importe solicitado",
  invoiced: "Total del pedido",
  received: "Recibido",
  excess: "Pagado de más",
  network: "Red",
  reference: "Referencia",
  paidAt: "Fecha de pago",
  expires: "Fecha límite",
  expired: "El plazo terminó",
  transaction: "Transacción",
  print: "Imprimir el recibo",
  questions: "¿Tienes preguntas sobre este pago?",
  askMerchant: "Ponte en contacto con {merchant} e indica esta referencia:",
  mailSubject: "Pago {reference}",
  neverAsks:
    "Esta página nunca te pedirá la clave privada ni la frase de recuperación de tu billetera.",

  downloadReceipt: "Descargar el recibo",
  verifyTitle: "Verificar un recibo",
  verifyLead:
    "Pega un recibo o una solicitud de pago firmados. La firma muestra si el texto procede de este sitio y no se ha modificado.",
  verifyLabel: "Texto firmado",
  verifySend: "Verificar",
  verifyReceipt: "Este recibo es auténtico",
  verifyRequest: "Esta solicitud de pago es auténtica",
  verifyRequestLead:
    "Es posible que ya se haya pagado o cancelado. Abre la página del pago antes de enviar nada y compara la dirección y el importe con los que muestra tu billetera.",
  verifyExpired: "El plazo ha vencido. No envíes nada.",
  verifyOpen: "Abrir el pago",
  verifyRefused: "No podemos verificar este texto",
  verifyChanged: "El texto se ha modificado o falta una parte. Vuelve a copiarlo entero.",
  verifyUnknown: "No lo ha firmado este sitio. Si procede de otro sitio, verifícalo allí.",
  verifyNotSigned:
    "Esto no es un texto firmado. Un texto firmado es una sola línea larga de letras y cifras que contiene el signo «.» dos veces.",
  verifyAddress: "Dirección",
  signedBy: "Firmado por",
  signedOn: "Firmado el",

  linkTitle: "Pagar a {merchant}",
  linkAmount: "Importe en {currency}",
  linkBetween: "De {min} a {max}",
  linkAtLeast: "Como mínimo {min}",
  linkAtMost: "Como máximo {max}",
  linkContinue: "Continuar al pago",
  linkOption: "Token y red",
  linkBadOption: "Esa forma de pago no está disponible aquí. Elige una de la lista.",
  linkBadAmount: "Ese importe no es posible aquí. Compruébalo y escríbelo como 12.50.",
  linkBroken:
    "El pago no se puede iniciar porque {merchant} tiene que corregir antes el enlace. No se ha enviado nada. Ponte en contacto con {merchant}.",
  linkUnavailable:
    "El pago no se puede iniciar en este momento. No se ha enviado nada. Inténtalo más tarde o ponte en contacto con {merchant}.",
  linkScan: "Escanea para pagar a {merchant}",
  checkAgain: "Comprobar de nuevo",
  back: "Volver a {merchant}",
  language: "Idioma",
  connectionLost: "Es posible que esta página no esté al día. Estamos intentando actualizarla.",
  notFoundHeadline: "No encontramos este enlace de pago",
  notFoundLead:
    "Comprueba que el enlace esté completo o pregunta a la tienda que te lo dio. Si ya has pagado, no pagues otra vez: pregunta a la tienda.",
  unavailableHeadline: "Ahora mismo no podemos comprobarlo",
  unavailableLead:
    "¿Ya has pagado? No pagues otra vez: tu pago se buscará en cuanto todo vuelva a funcionar. Vuelve a comprobarlo en un minuto. Si esta página no ha vuelto después de una hora, pregunta a la tienda.",
  busyHeadline: "Un momento, por favor",
  busyLead:
    "Esta página ha recibido muchísimas solicitudes y hacemos una breve pausa. ¿Ya has pagado? No pagues otra vez: seguimos buscando tu pago. Tiempo de espera: {time}. Después, vuelve a comprobarlo. Si estabas introduciendo un ID de transacción, introdúcelo entonces de nuevo.",
  refusedHeadline: "Eso no ha funcionado",
  refusedLead:
    "No pudimos leer lo que envió tu navegador y no ha cambiado nada. Vuelve a tu pago e inténtalo de nuevo.",
  failedHeadline: "Algo falló de nuestra parte",
  failedLead:
    "¿Ya has pagado? No pagues otra vez: seguimos buscando tu pago en la red. Vuelve a comprobarlo en un minuto.",
  formNotReceived:
    "Si introdujiste un ID de transacción, es posible que no lo hayamos recibido. Vuelve al pago e introduce el ID de transacción otra vez si la transacción no aparece allí.",
  failedReference: "Si sigue ocurriendo, envía esta referencia al comercio: {reference}",
  homeTitle: "Páginas de pago",
  homeHeadline: "Aquí los comercios reciben sus pagos",
  homeLead:
    "Este servidor muestra las páginas de pago de comercios que cobran en criptomonedas. Para pagar, abre el enlace completo que te dio el comercio.",
  homeDocs: "Para desarrolladores: la documentación de la API",
  testRibbon: "Red de prueba: no es dinero real",
};
