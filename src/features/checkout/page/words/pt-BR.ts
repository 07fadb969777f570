import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Brazilian Portuguese. Machine translation of en.ts, not yet reviewed by a native speaker. Its
 * texts are those of en.ts with the digest 8b303c81acb1.
 */
export const ptBR: Catalogue = {
  lang: "pt-BR",
  dir: "ltr",
  name: "Português (Brasil)",

  payTitle: "Pagar {amount} para {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Pagamento para",
  purpose: "Referente a",
  order: "Pedido",
  amountToPay: "Valor a pagar",
  stillToPay: "Falta pagar",
  onNetwork: "na rede {network}",
  price: "Preço: {amount}",
  lastDigits:
    "Os últimos dígitos nos permitem reconhecer o seu pagamento. Por isso, não arredonde o valor.",
  twoDecimalsShared:
    "Sua carteira aceita só duas casas decimais? Use outra, ou envie {rounded} e informe o ID da transação nesta página: {merchant} vai atribuí-la a este pagamento.",
  twoDecimalsOwn: "Sua carteira aceita só duas casas decimais? Então envie {rounded}.",
  arrives:
    "Precisam chegar exatamente {amount}. Se a sua corretora descontar uma taxa do valor, some a taxa a ele.",
  onlyHere:
    "Envie somente {token} pela rede {network}. Qualquer outra coisa não chegará ao vendedor e não poderá ser recuperada.",
  ownCoin:
    "Da sua própria carteira, você também precisa de um pouco de {coin} para a taxa de rede.",
  unnamedCoin:
    "Da sua própria carteira, você também precisa de um pouco da moeda própria da rede {network} para a taxa de rede.",
  addressOn: "Endereço na rede {network}",
  copyAmount: "Copiar valor",
  copyAddress: "Copiar endereço",
  copied: "Copiado",
  amountCopied: "Valor copiado",
  addressCopied: "Endereço copiado",
  copyFailed: "Não foi possível copiar. Selecione o texto",
  openWallet: "Abrir na carteira",
  showCode: "Mostrar o QR Code",
  hideCode: "Ocultar o QR Code",
  scanAddress: "Endereço na rede {network}, sem o valor. Digite {amount} manualmente.",
  scanAll: "Endereço, token e valor na rede {network}.",
  qrLabel: "QR Code: pagar {amount} na rede {network} para {address}",
  qrAddressLabel: "QR Code: o endereço {address} na rede {network}",
  otherCode: "Usar um código que já inclui o valor",
  scanCheck:
    "Algumas carteiras não leem este código corretamente. Antes de confirmar, a sua carteira deve mostrar um endereço de destino que termina em {ending} e o valor de {amount}. Se ela mostrar qualquer outra coisa, não envie nada e use o endereço.",
  otherOptions: "Pagar com outro token ou rede",
  optionsLead:
    "Cada opção tem seu próprio valor e endereço. Já enviou algo? Então aguarde: continua valendo, pela cotação que foi mostrada a você.",
  optionChosen: "O valor e o endereço mudaram.",
  optionRefused:
    "Essa forma de pagamento não está disponível agora. Você pode escolher outra ou pagar como mostrado abaixo.",
  optionsFull:
    "Você já escolheu o máximo de formas de pagamento que este pagamento pode ter. Ainda pode escolher uma delas.",
  optionClosed:
    "A forma de pagamento não pode ser alterada agora. Esta página mostra o próximo passo.",
  paymentFolded: "Valor e endereço para pagar",
  payBy: "Pague até:",
  timeLeft: "Tempo restante: {time}",
  timeLeftToPay: "Tempo restante para pagar: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "Pagar com {wallet}",
  walletPay: "Pagar com sua carteira",
  walletApps: "Abrir esta página no aplicativo de uma carteira",
  walletWaiting: "Sua carteira pede que você confirme. Confira nela o valor e o endereço.",
  walletSent:
    "Sua carteira enviou o pagamento. Ele aparece aqui assim que a rede o tiver. Não o envie de novo.",
  walletUnsubmitted:
    "Sua carteira enviou o pagamento. Não conseguimos registrar a transação, mas vamos encontrá-la na rede mesmo assim. Não o envie de novo.",
  walletRefused: "Você recusou na sua carteira, então nada foi enviado.",
  walletWrongNetwork:
    "Sua carteira não está na rede {network}, então não pedimos que ela enviasse nada. Troque a rede na carteira e tente de novo.",
  walletWrongToken:
    "Sua carteira não conseguiu confirmar que se trata de {token} na rede {network}, então não pedimos que ela enviasse nada. Você ainda pode pagar para o endereço desta página.",
  walletTooLittle:
    "Esta conta da sua carteira tem menos de {amount}, então não pedimos que ela enviasse nada.",
  walletSilent:
    "Sua carteira não está respondendo. Abra-a e confira: se este pagamento aparecer nela como enviado ou pendente, não envie outro. Caso contrário, você pode pagar para o endereço desta página.",
  walletFailed:
    "Sua carteira informou um problema. Confira nela primeiro: se este pagamento aparecer como enviado ou pendente, não envie outro.",
  walletChanged:
    "Este pagamento acabou de mudar, então não pedimos que sua carteira enviasse nada. Confira antes o valor nesta página.",
  walletOffline:
    "Não conseguimos ler o valor atual, então não pedimos que sua carteira enviasse nada. Tente de novo daqui a pouco.",
  awaitingHeadline: "Aguardando o seu pagamento",
  awaitingLead:
    "Já enviou? Não envie duas vezes: o pagamento aparecerá aqui. Você pode fechar esta página e voltar.",
  payAgain:
    "Se mesmo assim a sua carteira ou corretora a mostrar como concluída, fale com {contact} e informe este código de referência: {reference}. Caso contrário, você pode pagar de novo abaixo.",
  lookingLead:
    "Estamos procurando a transação que você informou, o que costuma levar alguns minutos. Se não a encontrarmos em uma hora, esta página avisará.",
  lookingNext: "Não pague de novo. Você pode fechar esta página e voltar.",
  lookingOver:
    "O tempo para pagar terminou. Se o seu pagamento chegou atrasado, {merchant} vai aceitá-lo ou reembolsá-lo.",
  lookingHeadline: "Procurando a sua transação",
  sentFailedHeadline: "A sua transação falhou",
  enteredHeadline: "Ainda não encontramos o seu pagamento",
  missingHeadline: "Não encontramos a sua transação",
  missingNext:
    "Olhe na sua carteira ou corretora. Se ela mostrar o pagamento como pendente, aguarde. Se mostrar que ele falhou, o dinheiro continua com você. Se o mostrar como concluído, fale com {contact} e informe este código de referência: {reference}.",
  enteredNext:
    "Pagou com outra transação? Informe o ID dela abaixo. Pagou com esta? Fale com {contact} e informe este código de referência: {reference}.",
  goneHeadline: "Olhe na sua carteira antes de pagar de novo",
  goneLead:
    "Um pagamento que tínhamos visto não está mais na rede. O seu dinheiro não se perdeu: olhe na sua carteira ou corretora.",
  goneWait:
    "Lá ele aparece como enviado ou pendente? Aguarde e não pague de novo. Se uma hora depois do envio ainda não estiver aqui, fale com {contact} e informe este código de referência: {reference}.",
  goneFailed:
    "Lá aparece que ele falhou? Então o dinheiro continua com você, e você pode pagar de novo abaixo.",
  partlyPaidHeadline: "Uma parte do seu pagamento chegou",
  partlyPaidLead:
    "{merchant} recebeu {received} de {payable}. Envie os {remaining} restantes para concluir o pagamento.",
  partlyArrived: "{merchant} recebeu até agora {received} de {payable}.",
  partlyPaidSent: "Já enviou o restante? Não envie duas vezes: ele aparecerá aqui.",
  partlyPaidElse:
    "Não vai enviar o restante? Quando o tempo para pagar terminar, você poderá pedir aqui o seu dinheiro de volta.",
  partlyPaidGone:
    "{merchant} recebeu {received}. Outro pagamento que tínhamos visto não está mais na rede. Esse dinheiro não se perdeu: olhe na sua carteira ou corretora.",
  partlyPaidFailed:
    "Lá aparece que ele falhou? Então esse dinheiro continua com você, e você pode enviar os {remaining} restantes abaixo.",
  confirmingHeadline: "Pagamento detectado",
  confirmingLead:
    "Você não precisa fazer mais nada e pode fechar esta página. A rede está confirmando o seu pagamento. Tempo estimado: {wait}.",
  confirmationCount: "Confirmações: {current} de {required}",
  waitUnderMinute: "menos de um minuto",
  waitAbout: "cerca de {time}",
  inReviewHeadline: "Pagamento encontrado, aguardando {merchant}",
  inReviewAmountHeadline: "Chegou um valor diferente",
  inReviewLead:
    "{merchant} vai aceitar o seu pagamento ou reembolsá-lo. A decisão aparecerá nesta página. Não envie nada até lá.",
  inReviewEntered:
    "{merchant} recebeu {arrived}. Encontramos o pagamento pelo ID da transação que você informou, por isso {merchant} verifica primeiro se ele é deste pedido.",
  inReviewAmount: "{merchant} recebeu {arrived} em vez de {payable}.",
  inReviewByHand: "{merchant} recebeu {arrived}. Pagamentos como este são verificados manualmente.",
  paidHeadline: "Pago",
  paidLead: "Obrigado! {merchant} recebeu o seu pagamento.",
  overpaidHeadline: "Pago. Você enviou {excess} a mais",
  overpaidLead: "{merchant} recebeu o seu pagamento.",
  sumPaid: "Você pagou",
  sumAsked: "Total do pedido",
  sumExcess: "A mais",
  overpaidAction:
    "Para receber {excess} de volta, fale com {contact} e informe este código de referência: {reference}.",
  paidLateHeadline: "Pago e aceito",
  paidLateLead: "Obrigado! {merchant} aceitou o seu pagamento. Você não precisa fazer mais nada.",
  paidLateOverpaidLead: "{merchant} aceitou o seu pagamento.",
  lateHeadline: "O seu pagamento chegou após o tempo para pagar",
  lateLead:
    "{merchant} recebeu {arrived} e vai aceitar o seu pagamento ou reembolsá-lo. A decisão aparecerá nesta página. Não envie mais nada.",
  expiredHeadline: "O tempo para pagar terminou",
  expiredLead: "Ainda não enviou? Não envie nada agora. Peça um novo link a {merchant}.",
  expiredElse: "Não envie nada agora.",
  newLink:
    "O tempo para pagar também terminou, por isso não envie nada agora. Peça um novo link a {contact} e informe este código de referência: {reference}.",
  expiredSent:
    "Já enviou? Não envie de novo: o pagamento ainda pode aparecer aqui, por isso guarde o link desta página. Ainda não está aqui uma hora depois do envio? Fale com {contact} e informe este código de referência: {reference}.",
  paymentMoved:
    "{merchant} transferiu o pagamento que chegou aqui para outra fatura. Não envie nada para este endereço. Peça o link dela a {contact}.",
  returnedHeadline: "Seu dinheiro foi devolvido",
  returningHeadline: "Seu reembolso está a caminho",
  returnedLead:
    "{merchant} devolveu {returned}. Não envie nada agora. Ainda quer pagar? Peça um novo link a {merchant}.",
  expiredPartlyHeadline: "Só uma parte foi paga",
  expiredPartlyLead:
    "{merchant} recebeu {received} de {payable}. O tempo para pagar terminou, por isso não envie mais o restante.",
  expiredPartlyNext:
    "Fale com {contact} sobre os {received} e informe este código de referência: {reference}.",
  canceledHeadline: "Cancelado por {merchant}",
  canceledLead: "{merchant} cancelou este pedido. Não envie nada.",
  canceledSent:
    "Já enviou? O pagamento aparecerá aqui, e então você poderá pedi-lo de volta. Se uma hora depois do envio ele não estiver aqui, fale com {contact} e informe este código de referência: {reference}.",
  notNeededLead: "{merchant} recebeu {arrived}. Não envie mais nada.",
  canceledPaidHeadline: "Cancelado, mas o seu pagamento chegou",
  canceledPaidLead:
    "{merchant} cancelou este pedido antes de chegarem os seus {arrived} e vai aceitar o seu pagamento ou reembolsá-lo. A decisão aparecerá nesta página. Não envie mais nada.",
  cannotCheckHeadline: "Não conseguimos consultar a rede agora",
  cannotCheckSince: "Última verificação: {time}.",
  cannotCheckLead:
    "Já enviou? Não envie de novo: o pagamento será encontrado assim que a rede {network} puder ser lida de novo.",
  cannotCheckOpen:
    "Ainda não pagou? O melhor é aguardar até conseguirmos ler a rede de novo. Se o tempo acabar enquanto isso, peça um novo link a {merchant}.",
  cannotCheckOver: "Ainda não pagou? Não pague agora. Peça um novo link a {contact}.",
  cannotCheckOverSent:
    "Ainda estamos aguardando os dados mais recentes da rede {network}. Já enviou? Não envie de novo: o seu pagamento aparecerá aqui.",
  notAcceptedHeadline: "Agora não é possível pagar desta forma",
  notAccepted: "Não envie {token} na rede {network}: {merchant} não o aceita no momento.",
  notAcceptedSent:
    "Já enviou? O dinheiro não se perdeu: ele vai para a carteira de {merchant}. Fale com {contact} e informe este código de referência: {reference}.",
  notAcceptedElse: "Ainda não pagou? Pergunte a {contact} como pagar de outra forma.",
  notAcceptedOptions: "Ainda não pagou? Você pode pagar abaixo com outro token ou rede.",
  cannotConfirmNow:
    "O seu pagamento foi encontrado, por isso não envie de novo. Não conseguimos acessar a rede {network} no momento, então o número de confirmações pode estar desatualizado. Você pode fechar esta página e voltar.",
  revertedHeadline: "A rede precisa reconfirmar o seu pagamento",
  revertedLead:
    "Não pague de novo. A rede {network} substituiu os seus blocos mais recentes, o que é normal, e precisa confirmar o seu pagamento uma segunda vez. Isso costuma levar alguns minutos. O seu dinheiro não se perdeu.",
  revertedNext:
    "Você pode fechar esta página e voltar. Se uma hora depois do envio o seu pagamento ainda não estiver confirmado, fale com {contact} e informe este código de referência: {reference}.",
  reverted:
    "Olhe na sua carteira antes de enviar qualquer coisa: a rede não manteve um pagamento que já tinha aparecido aqui. Enquanto a sua carteira o mostrar como enviado ou pendente, não envie outro.",
  transactionFailed:
    "A transação que você informou falhou na rede. Nenhum {token} foi enviado: o dinheiro continua com você ou com a sua corretora.",
  contactIfLong:
    "Nenhuma decisão depois de um dia? Fale com {contact} e informe este código de referência: {reference}.",
  contactOrRefund:
    "Nenhuma decisão depois de um dia, ou prefere um reembolso? Fale com {contact} e informe este código de referência: {reference}.",
  waitOrRefund: "Para garantir que ele possa ser reembolsado, informe o seu endereço abaixo.",

  hashQuestion: "Já pagou, mas não aparece aqui?",
  hashAnother: "Informar outro ID de transação",
  hashLead:
    "Cole o ID da sua transação (TxID ou hash) ou o link dela em um explorador de blocos. Vamos procurá-la na rede {network}.",
  hashLabel: "ID da transação (TxID ou hash) ou link",
  hashSend: "Procurar",
  hashReceived:
    "Obrigado. Estamos procurando a sua transação, e ela aparecerá nesta página quando soubermos que é deste pagamento. Não envie duas vezes.",
  hashMalformed:
    "{problem} Um ID de transação (TxID ou hash) tem 64 caracteres, ou 66 com 0x no início. Copie-o da sua carteira ou corretora e cole-o no campo abaixo.",
  hashTooShort: "Isto é curto demais.",
  hashTooLong: "Isto é longo demais.",
  hashWrongCharacter:
    "Isto não é um ID de transação: contém caracteres que não são números nem letras de A a F.",
  hashNotInLink: "Não encontramos um único ID de transação neste link.",
  hashIsAddress: "Isto é um endereço, não um ID de transação.",
  hashTooMany:
    "Ainda estamos verificando as transações que você informou. Aguarde os resultados ou fale com {merchant}.",

  hashSubmitted: "Transações que você informou",
  hashLooking: "Estamos procurando esta transação.",
  hashUnknown:
    "A rede ainda não conhece esta transação. Vamos continuar tentando por uma hora. Compare o ID da transação com o da sua carteira ou corretora.",
  hashGivenUp:
    "Procuramos esta transação por uma hora e não a encontramos. Você pode informar o ID da transação novamente.",
  hashDisplaced:
    "Não encontramos esta transação e paramos de procurá-la para dar lugar a uma mais recente. Se precisar, informe o ID da transação novamente.",
  hashCounted: "Encontrada. Ela conta para este pagamento.",
  hashInReview: "Encontrada. {merchant} vai decidir se ela é deste pagamento.",
  hashReverted:
    "A rede ainda não confirmou esta transação de forma definitiva. Enquanto a sua carteira a mostrar como enviada ou pendente, não envie outra.",
  hashFailed: "Esta transação falhou na rede, por isso nenhum {token} foi enviado.",
  hashOtherAddress:
    "Esta transação foi para outro endereço, não para o de {merchant}. Veja na sua carteira ou corretora para onde ela foi.",
  hashOtherToken:
    "Esta transação enviou algo diferente de {token} na rede {network}. Fale com {contact} e informe este código de referência: {reference}.",
  hashTokenDisabled:
    "Não podemos aceitar {token} na rede {network} no momento. Fale com {contact} e informe este código de referência: {reference}.",
  hashTooSmall: "Esta transação enviou muito pouco para contar como pagamento.",
  hashTooEarly: "Esta transação é anterior a este pagamento, por isso não pode ser dele.",
  hashTooLate:
    "Esta transação foi feita muito depois do fim do tempo para pagar. Se ela foi para o endereço deste pagamento, {merchant} está com o dinheiro. Fale com {contact} e informe este código de referência: {reference}.",
  hashNotForThis:
    "Esta transação não é um pagamento desta fatura. Se você acha que é, fale com {contact} e informe este código de referência: {reference}.",

  refundAmount: "Pedir {amount} de volta",
  refundNext:
    "Toque no botão e informe um endereço da sua própria carteira, ou o seu endereço de depósito em uma corretora para {token} na rede {network}. {merchant} envia o reembolso manualmente, e você verá aqui quando ele estiver a caminho.",
  refundSoon:
    "Você poderá pedir um reembolso aqui em alguns minutos, quando a rede tiver confirmado o pagamento.",
  refundAsked:
    "Foi pedido o reembolso de {refund}. {merchant} envia o valor manualmente, e você verá aqui quando ele estiver a caminho. Nada depois de alguns dias? Fale com {contact} e informe este código de referência: {reference}.",
  refundLead:
    "{merchant} pode devolver o que este pagamento não precisa. Informe um endereço seu: o da sua carteira ou o seu endereço de depósito em uma corretora. Não informe o endereço de onde uma corretora enviou o seu pagamento: o que for enviado para lá pode se perder.",
  refundAddressLabel: "Seu próprio endereço na rede {network}",
  refundContinue: "Continuar",
  refundCheck: "Este é o seu endereço?",
  refundCheckLead:
    "Você está pedindo que {merchant} envie {amount} pela rede {network} para este endereço. Compare cada caractere com a sua carteira: o que é enviado para um endereço errado se perde, e não será possível mudá-lo depois.",
  refundSend: "Sim, pedir o reembolso",
  refundChange: "Mudar",
  refundReceived:
    "Obrigado. {merchant} recebeu a sua solicitação. Esta página mostrará quando o reembolso estiver a caminho.",
  refundAlready:
    "Já foi pedido um reembolso deste pagamento, e nós não o alteramos. Se não foi você, fale agora com {merchant} e informe este código de referência: {reference}.",
  refundNothing:
    "Não encontramos nada para reembolsar nesta transação. Informe o ID da transação do seu pagamento confirmado mais recente nesta página ou fale com {merchant}.",
  refundTooEarly:
    "A rede ainda está confirmando o seu pagamento, o que costuma levar alguns minutos. Peça o reembolso de novo mais tarde. Se em um dia não funcionar, fale com {merchant}.",
  refundBadAddress:
    "Isso não parece um endereço da rede {network}. Copie-o de novo da sua carteira.",
  refundAddressRefused:
    "Um reembolso para este endereço não chegaria até você. Informe um endereço da sua própria carteira.",
  refunds: "Reembolsos",
  refundRequested: "{amount} para {address}: solicitado.",
  refundSent: "{amount} para {address}: enviado por {merchant}. Estamos conferindo a transação.",
  refundConfirmed: "{amount} para {address}: reembolsado.",
  refundRejected: "{amount} para {address}: recusado por {merchant}. Motivo: {reason}",
  refundWithdrawn:
    "{amount} para {address}: retirado, porque o pagamento acabou sendo necessário ou não está mais na rede.",

  details: "Detalhes",
  receipt: "Comprovante",
  merchant: "Vendedor",
  asked: "Valor solicitado",
  invoiced: "Total do pedido",
  received: "Valor recebido",
  excess: "Pago a mais",
  network: "Rede",
  reference: "Referência",
  paidAt: "Pago",
  expires: "Pague até",
  expired: "O prazo terminou em",
  transaction: "Transação",
  print: "Imprimir o comprovante",
  questions: "Dúvidas sobre este pagamento?",
  askMerchant: "Fale com {merchant} e informe este código de referência:",
  mailSubject: "Pagamento {reference}",
  neverAsks: "Esta página nunca pede a chave privada nem a frase de recuperação da sua carteira.",

  downloadReceipt: "Baixar o comprovante",
  verifyTitle: "Verificar um comprovante",
  verifyLead:
    "Cole um comprovante ou uma solicitação de pagamento assinados. A assinatura mostra se o texto vem deste site e não foi alterado.",
  verifyLabel: "Texto assinado",
  verifySend: "Verificar",
  verifyReceipt: "Este comprovante é autêntico",
  verifyRequest: "Esta solicitação de pagamento é autêntica",
  verifyRequestLead:
    "Ela pode já ter sido paga ou cancelada. Abra a página do pagamento antes de enviar qualquer coisa e compare o endereço e o valor com os que sua carteira mostra.",
  verifyExpired: "O prazo acabou. Não envie nada.",
  verifyOpen: "Abrir o pagamento",
  verifyRefused: "Não conseguimos verificar este texto",
  verifyChanged: "O texto foi alterado ou falta uma parte. Copie-o inteiro novamente.",
  verifyUnknown: "Ele não foi assinado por este site. Se vier de outro site, verifique-o lá.",
  verifyNotSigned:
    "Isto não é um texto assinado. Um texto assinado é uma única linha longa de letras e números com dois pontos-finais dentro.",
  verifyAddress: "Endereço",
  signedBy: "Assinado por",
  signedOn: "Assinado em",

  linkTitle: "Pagar a {merchant}",
  linkAmount: "Valor em {currency}",
  linkBetween: "De {min} a {max}",
  linkAtLeast: "No mínimo {min}",
  linkAtMost: "No máximo {max}",
  linkContinue: "Continuar para o pagamento",
  linkOption: "Token e rede",
  linkBadOption: "Essa forma de pagamento não está disponível aqui. Escolha uma da lista.",
  linkBadAmount: "Esse valor não é possível aqui. Confira e escreva como 12.50.",
  linkBroken:
    "O pagamento não pode ser iniciado, porque {merchant} precisa corrigir o link antes. Nada foi enviado. Fale com {merchant}.",
  linkUnavailable:
    "O pagamento não pode ser iniciado agora. Nada foi enviado. Tente de novo mais tarde ou fale com {merchant}.",
  linkScan: "Escaneie para pagar a {merchant}",
  checkAgain: "Verificar de novo",
  back: "Voltar para {merchant}",
  language: "Idioma",
  connectionLost: "Esta página pode estar desatualizada. Estamos tentando atualizá-la.",
  notFoundHeadline: "Não encontramos este link de pagamento",
  notFoundLead:
    "Confira se o link está completo ou pergunte à loja que o passou a você. Se você já pagou, não pague de novo: pergunte à loja.",
  unavailableHeadline: "Não conseguimos verificar agora",
  unavailableLead:
    "Já pagou? Não pague de novo: o seu pagamento será procurado assim que tudo voltar a funcionar. Verifique de novo em um minuto. Se esta página não voltar em uma hora, pergunte à loja.",
  busyHeadline: "Um momento, por favor",
  busyLead:
    "Esta página recebeu muitos acessos agora há pouco, por isso estamos fazendo uma breve pausa. Já pagou? Não pague de novo: continuamos procurando o seu pagamento. Tempo de espera: {time}. Depois disso, verifique de novo. Se você estava informando o ID de uma transação, informe o ID novamente nesse momento.",
  refusedHeadline: "Não deu certo",
  refusedLead:
    "Não conseguimos ler o que o seu navegador enviou, e nada mudou. Volte ao pagamento e tente de novo.",
  failedHeadline: "Algo deu errado do nosso lado",
  failedLead:
    "Já pagou? Não pague de novo: continuamos procurando o seu pagamento na rede. Verifique de novo em um minuto.",
  formNotReceived:
    "Se você informou o ID de uma transação, talvez não o tenhamos recebido. Volte ao pagamento e informe o ID novamente se a transação não aparecer lá.",
  failedReference: "Se isso continuar acontecendo, envie este código ao vendedor: {reference}",
  homeTitle: "Páginas de pagamento",
  homeHeadline: "Aqui vendedores recebem pagamentos",
  homeLead:
    "Este servidor mostra as páginas de pagamento de vendedores que recebem em criptomoedas. Para pagar, abra o link completo que o vendedor enviou a você.",
  homeDocs: "Para desenvolvedores: a documentação da API",
  testRibbon: "Rede de teste: não é dinheiro de verdade",
};
