import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Japanese. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are
 * those of en.ts with the digest 8b303c81acb1.
 */
export const ja: Catalogue = {
  lang: "ja",
  dir: "ltr",
  name: "日本語",

  payTitle: "{merchant} へ {amount} を支払う",
  stateTitle: "{headline} · {merchant}",
  payTo: "お支払い先",
  purpose: "内容",
  order: "注文番号",
  amountToPay: "お支払い金額",
  stillToPay: "残りのお支払い金額",
  onNetwork: "{network} ネットワーク",
  price: "価格：{amount}",
  lastDigits: "末尾の数字でお客様のお支払いを識別しています。金額を丸めずにお送りください。",
  twoDecimalsShared:
    "ウォレットで小数第2位までしか入力できない場合は、別のウォレットを使うか、{rounded} を送ってこのページにトランザクション ID を入力してください。{merchant} がこのお支払いとして確認します。",
  twoDecimalsOwn: "ウォレットで小数第2位までしか入力できない場合は、{rounded} をお送りください。",
  arrives:
    "ちょうど {amount} が着金する必要があります。取引所が送金額から手数料を差し引く場合は、その分を上乗せしてください。",
  onlyHere:
    "{network} ネットワークで {token} のみをお送りください。それ以外のものは販売元に届かず、取り戻すこともできません。",
  ownCoin: "ご自身のウォレットから送る場合は、ネットワーク手数料として少額の {coin} も必要です。",
  unnamedCoin:
    "ご自身のウォレットから送る場合は、ネットワーク手数料として {network} のネイティブトークンも少額必要です。",
  addressOn: "{network} のアドレス",
  copyAmount: "金額をコピー",
  copyAddress: "アドレスをコピー",
  copied: "コピーしました",
  amountCopied: "金額をコピーしました",
  addressCopied: "アドレスをコピーしました",
  copyFailed: "コピーできません。文字を選択してください",
  openWallet: "ウォレットで開く",
  showCode: "QRコードを表示",
  hideCode: "QRコードを隠す",
  scanAddress:
    "{network} のアドレスです。金額は含まれません。{amount} とご自身で入力してください。",
  scanAll: "{network} のアドレス、トークン、金額です。",
  qrLabel: "QRコード：{network} で {address} へ {amount} を支払う",
  qrAddressLabel: "QRコード：{network} のアドレス {address}",
  otherCode: "金額が入ったQRコードを使う",
  scanCheck:
    "このコードを正しく読み取れないウォレットもあります。確定する前に、ウォレットに表示される送金先の末尾が {ending}、金額が {amount} であることを確認してください。異なる場合は送金せず、アドレスをお使いください。",
  otherOptions: "別のトークンまたはネットワークで支払う",
  optionsLead:
    "それぞれ金額とアドレスが異なります。すでに送金された場合はそのままお待ちください。表示されたレートで受け付けられます。",
  optionChosen: "金額とアドレスが変わりました。",
  optionRefused:
    "この支払い方法は現在ご利用いただけません。別の方法を選ぶか、下記のとおりお支払いください。",
  optionsFull:
    "このお支払いで選べる数の方法をすでに選択されています。その中からは引き続き選べます。",
  optionClosed: "現在、支払い方法は変更できません。次の手順はこのページでご確認ください。",
  paymentFolded: "お支払いの金額とアドレス",
  payBy: "お支払い期限：",
  timeLeft: "残り {time}",
  timeLeftToPay: "お支払い期限まで残り {time}",
  dayTime: "{day} {time}",

  walletPayWith: "{wallet} で支払う",
  walletPay: "ウォレットで支払う",
  walletApps: "このページをウォレットアプリで開く",
  walletWaiting: "ウォレットで確認を求められています。金額とアドレスをご確認ください。",
  walletSent:
    "ウォレットから送金されました。ネットワークに届き次第、ここに表示されます。もう一度送らないでください。",
  walletUnsubmitted:
    "ウォレットから送金されました。トランザクションを記録できませんでしたが、ネットワーク上で見つけられます。もう一度送らないでください。",
  walletRefused: "ウォレットで拒否されたため、何も送られていません。",
  walletWrongNetwork:
    "ウォレットが {network} に接続されていないため、送金を求めませんでした。ウォレットのネットワークを切り替えて、もう一度お試しください。",
  walletWrongToken:
    "ウォレットで {network} の {token} であることを確認できなかったため、送金を求めませんでした。このページのアドレスへのお支払いは引き続き可能です。",
  walletTooLittle:
    "このアカウントの残高が {amount} に足りないため、ウォレットに送金を求めませんでした。",
  walletSilent:
    "ウォレットから応答がありません。ウォレットを開いてご確認ください。このお支払いが送信済みまたは保留中と表示されている場合は、新たに送らないでください。表示されていない場合は、このページのアドレスにお支払いいただけます。",
  walletFailed:
    "ウォレットで問題が発生しました。まずウォレットをご確認ください。このお支払いが送信済みまたは保留中と表示されている場合は、新たに送らないでください。",
  walletChanged:
    "このお支払いの内容が変わったため、ウォレットに送金を求めませんでした。まずこのページの金額をご確認ください。",
  walletOffline:
    "現在の金額を確認できなかったため、ウォレットに送金を求めませんでした。しばらくしてからもう一度お試しください。",
  awaitingHeadline: "お支払いをお待ちしています",
  awaitingLead:
    "すでに送った場合は、二重に送らないでください。お支払いはここに表示されます。このページを閉じて、後で戻ることもできます。",
  payAgain:
    "それでもウォレットまたは取引所に完了と表示されている場合は、まず {contact} にご連絡のうえ、お問い合わせ番号 {reference} をお伝えください。それ以外の場合は、下でもう一度お支払いいただけます。",
  lookingLead:
    "入力されたトランザクションを探しています。通常は数分かかります。1 時間以内に見つからない場合は、このページでお知らせします。",
  lookingNext: "もう一度お支払いにならないでください。このページを閉じて、後で戻ることもできます。",
  lookingOver:
    "お支払いの時間は終わりました。お支払いの到着が遅れた場合は、{merchant} が受け付けるか返金します。",
  lookingHeadline: "トランザクションを探しています",
  sentFailedHeadline: "トランザクションが失敗しました",
  enteredHeadline: "お支払いはまだ見つかっていません",
  missingHeadline: "トランザクションが見つかりません",
  missingNext:
    "ウォレットまたは取引所をご確認ください。保留中と表示されている場合は、お待ちください。失敗と表示されている場合は、資金はお手元に残っています。完了と表示されている場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  enteredNext:
    "別のトランザクションでお支払いになった場合は、その ID を下に入力してください。このトランザクションでお支払いになった場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  goneHeadline: "お支払いの前に、ウォレットをご確認ください",
  goneLead:
    "以前に確認できたお支払いが、ネットワークに表示されなくなりました。資金は失われていません。ウォレットまたは取引所をご確認ください。",
  goneWait:
    "送信済みまたは保留中と表示されている場合は、もう一度お支払いにならずにお待ちください。送金から 1 時間たってもここに表示されない場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  goneFailed:
    "失敗と表示されている場合は、資金はお手元に残っており、下でもう一度お支払いいただけます。",
  partlyPaidHeadline: "お支払いの一部が届きました",
  partlyPaidLead:
    "{merchant} は {payable} のうち {received} を受け取りました。残りの {remaining} をお送りいただくと、お支払いが完了します。",
  partlyArrived: "{merchant} はこれまでに {payable} のうち {received} を受け取りました。",
  partlyPaidSent: "残りをすでに送った場合は、二重に送らないでください。ここに表示されます。",
  partlyPaidElse: "残りを送らない場合は、お支払いの時間が終わった後に、ここで返金を依頼できます。",
  partlyPaidGone:
    "{merchant} は {received} を受け取りました。以前に確認できた別のお支払いは、ネットワークに表示されなくなりました。その資金は失われていません。ウォレットまたは取引所をご確認ください。",
  partlyPaidFailed:
    "失敗と表示されている場合は、その資金はお手元に残っており、下で残りの {remaining} をお送りいただけます。",
  confirmingHeadline: "お支払いを検出しました",
  confirmingLead:
    "これ以上の操作は不要です。このページは閉じてもかまいません。ネットワークがお支払いを承認しています。所要時間の目安：{wait}。",
  confirmationCount: "承認数：{current} / {required}",
  waitUnderMinute: "1 分未満",
  waitAbout: "約 {time}",
  inReviewHeadline: "お支払いが見つかり、{merchant} の確認待ちです",
  inReviewAmountHeadline: "ご請求額と異なる金額が届きました",
  inReviewLead:
    "{merchant} がお支払いを受け付けるか返金します。結果はこのページに表示されます。それまでは何も送らないでください。",
  inReviewEntered:
    "{merchant} は {arrived} を受け取りました。入力されたトランザクション ID で見つかったため、このご注文のお支払いかどうかを {merchant} がまず確認します。",
  inReviewAmount: "{merchant} は {payable} ではなく {arrived} を受け取りました。",
  inReviewByHand:
    "{merchant} は {arrived} を受け取りました。このようなお支払いは個別に確認されます。",
  paidHeadline: "お支払いが完了しました",
  paidLead: "ありがとうございます。{merchant} がお支払いを受け取りました。",
  overpaidHeadline: "お支払い完了（{excess} 多く届きました）",
  overpaidLead: "{merchant} がお支払いを受け取りました。",
  sumPaid: "お支払い額",
  sumAsked: "ご注文の合計",
  sumExcess: "超過分",
  overpaidAction:
    "{excess} の返金をご希望の場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  paidLateHeadline: "お支払いが受け付けられました",
  paidLateLead:
    "ありがとうございます。{merchant} がお支払いを受け付けました。これ以上の操作は不要です。",
  paidLateOverpaidLead: "{merchant} がお支払いを受け付けました。",
  lateHeadline: "お支払いの時間が終わった後に届きました",
  lateLead:
    "{merchant} は {arrived} を受け取りました。お支払いを受け付けるか返金し、結果はこのページに表示されます。これ以上何も送らないでください。",
  expiredHeadline: "お支払いの時間が終わりました",
  expiredLead:
    "まだ送っていない場合は、今は何も送らないでください。{merchant} に新しいリンクをご依頼ください。",
  expiredElse: "今は何も送らないでください。",
  newLink:
    "お支払いの時間も終わりましたので、今は何も送らないでください。新しいリンクについては、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  expiredSent:
    "すでに送った場合は、再度送らないでください。お支払いはまだここに表示されることがありますので、このページのリンクを保存してください。送金から 1 時間たってもここに表示されない場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  paymentMoved:
    "{merchant} は、ここに届いたお支払いを別の請求に充当しました。このアドレスには何も送らないでください。そのリンクは {contact} にお問い合わせください。",
  returnedHeadline: "お支払いは返金されました",
  returningHeadline: "返金を送信中です",
  returnedLead:
    "{merchant} が {returned} を返金しました。今は何も送らないでください。お支払いを続ける場合は、{merchant} に新しいリンクをご依頼ください。",
  expiredPartlyHeadline: "お支払いは一部のみです",
  expiredPartlyLead:
    "{merchant} は {payable} のうち {received} を受け取りました。お支払いの時間が終わりましたので、残りの金額は、もう送らないでください。",
  expiredPartlyNext:
    "受け取った {received} については、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  canceledHeadline: "{merchant} がキャンセルしました",
  canceledLead: "{merchant} がこのご注文をキャンセルしました。何も送らないでください。",
  canceledSent:
    "すでに送った場合、お支払いはここに表示され、返金を依頼できるようになります。送金から 1 時間たってもここに表示されない場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  notNeededLead: "{merchant} は {arrived} を受け取りました。これ以上何も送らないでください。",
  canceledPaidHeadline: "キャンセル後にお支払いが届きました",
  canceledPaidLead:
    "{merchant} は {arrived} が届く前にこのご注文をキャンセルしていました。お支払いを受け付けるか返金し、結果はこのページに表示されます。これ以上何も送らないでください。",
  cannotCheckHeadline: "現在、ネットワークを確認できません",
  cannotCheckSince: "最終確認：{time}",
  cannotCheckLead:
    "すでに送った場合は、再度送らないでください。{network} を再び確認できるようになり次第、お支払いが見つかります。",
  cannotCheckOpen:
    "まだお支払いでない場合は、ネットワークを再び確認できるまでお待ちになることをお勧めします。その間に時間が終わった場合は、{merchant} に新しいリンクをご依頼ください。",
  cannotCheckOver:
    "まだお支払いでない場合は、今は送らないでください。{contact} に新しいリンクをご依頼ください。",
  cannotCheckOverSent:
    "{network} の最新の情報を待っています。すでに送った場合は、再度送らないでください。お支払いはここに表示されます。",
  notAcceptedHeadline: "現在、この方法ではお支払いいただけません",
  notAccepted: "{network} で {token} を送らないでください。{merchant} は現在、受け付けていません。",
  notAcceptedSent:
    "すでに送った場合も、資金は失われず、{merchant} のウォレットに届きます。{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  notAcceptedElse:
    "まだお支払いでない場合は、別のお支払い方法を {contact} にお問い合わせください。",
  notAcceptedOptions:
    "まだお支払いでない場合は、下で別のトークンまたはネットワークを選んでお支払いいただけます。",
  cannotConfirmNow:
    "お支払いは見つかっていますので、再度送らないでください。現在 {network} に接続できないため、承認の数は最新でないことがあります。このページを閉じて、後で戻ることもできます。",
  revertedHeadline: "お支払いの再承認を待っています",
  revertedLead:
    "もう一度お支払いにならないでください。{network} が最新のブロックを置き換えたため、お支払いをもう一度承認する必要があります。これは通常の動作で、普通は数分かかります。資金は失われていません。",
  revertedNext:
    "このページを閉じて、後で戻ることもできます。送金から 1 時間たってもお支払いが承認されない場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  reverted:
    "何かを送る前にウォレットをご確認ください。以前ここに表示されていたお支払いが、ネットワークに残りませんでした。ウォレットに送信済みまたは保留中と表示されている間は、新たに送らないでください。",
  transactionFailed:
    "入力されたトランザクションはネットワークで失敗しました。{token} は送信されておらず、資金はお手元または取引所に残っています。",
  contactIfLong:
    "1 日たっても結果が表示されない場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  contactOrRefund:
    "1 日たっても結果が表示されない場合や、返金をご希望の場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  waitOrRefund: "確実に返金できるように、下でアドレスをお知らせください。",

  hashQuestion: "支払い済みなのに表示されませんか？",
  hashAnother: "別のトランザクション ID を入力する",
  hashLead:
    "トランザクション ID（TxID またはハッシュ）、またはブロックエクスプローラーのリンクを貼り付けてください。{network} で検索します。",
  hashLabel: "トランザクション ID（TxID）またはリンク",
  hashSend: "検索",
  hashReceived:
    "ありがとうございます。トランザクションを検索しています。このお支払いのものと確認でき次第、このページに表示します。二重に送金しないでください。",
  hashMalformed:
    "{problem}トランザクション ID（TxID またはハッシュ）は 64 文字で、先頭に 0x が付く場合は 66 文字です。ウォレットまたは取引所からコピーして、下の欄に貼り付けてください。",
  hashTooShort: "短すぎます。",
  hashTooLong: "長すぎます。",
  hashWrongCharacter:
    "トランザクション ID ではありません。数字と A から F までの文字以外が含まれています。",
  hashNotInLink: "このリンクからトランザクション ID を 1 つに特定できません。",
  hashIsAddress: "これはアドレスで、トランザクション ID ではありません。",
  hashTooMany:
    "お知らせいただいたトランザクションを確認中です。結果をお待ちいただくか、{merchant} にご連絡ください。",

  hashSubmitted: "お知らせいただいたトランザクション",
  hashLooking: "このトランザクションを検索しています。",
  hashUnknown:
    "このトランザクションはまだネットワークにありません。1 時間検索を続けます。トランザクション ID がウォレットまたは取引所のものと同じかご確認ください。",
  hashGivenUp:
    "このトランザクションを 1 時間検索しましたが、見つかりませんでした。トランザクション ID をもう一度入力することもできます。",
  hashDisplaced:
    "このトランザクションは見つからず、新しいものを優先するため検索を終了しました。必要な場合は、トランザクション ID をもう一度入力してください。",
  hashCounted: "見つかりました。このお支払いに反映されています。",
  hashInReview: "見つかりました。このお支払いのものかどうかは {merchant} が判断します。",
  hashReverted:
    "ネットワークはこのトランザクションをまだ確定していません。ウォレットに送信済みまたは保留中と表示されている間は、新たに送らないでください。",
  hashFailed: "このトランザクションはネットワークで失敗したため、{token} は送られていません。",
  hashOtherAddress:
    "このトランザクションは、{merchant} のアドレスではなく、別のアドレスに届きました。どこに届いたかをウォレットまたは取引所でご確認ください。",
  hashOtherToken:
    "このトランザクションで送られたものは、{network} での {token} ではありません。{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  hashTokenDisabled:
    "現在、{network} の {token} は受け付けられません。{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  hashTooSmall: "このトランザクションの金額は少なすぎるため、お支払いとして扱えません。",
  hashTooEarly: "このトランザクションはこのお支払いより前のものなので、対象ではありません。",
  hashTooLate:
    "このトランザクションは、お支払いの時間が終わってからかなり後に行われました。このお支払いのアドレスに届いている場合、資金は {merchant} にあります。{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  hashNotForThis:
    "このトランザクションは、この請求のお支払いではありません。この請求のお支払いだと思われる場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",

  refundAmount: "{amount} の返金を依頼する",
  refundNext:
    "ボタンを押して、ご自身のウォレットのアドレス、または取引所での {network} の {token} の入金アドレスを入力してください。{merchant} が手作業で返金し、送信されるとここに表示されます。",
  refundSoon: "数分後、ネットワークが支払いを承認すると、ここで返金を依頼できます。",
  refundAsked:
    "{refund} の返金が依頼されています。{merchant} が手作業で返金し、送信されるとここに表示されます。数日たっても表示されない場合は、{contact} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  refundLead:
    "このお支払いに不要な分は、{merchant} から返送できます。ご自身のアドレス（ウォレットのアドレス、または取引所の入金アドレス）を入力してください。取引所がお支払いを送金した元のアドレスは入力しないでください。そこへ送られたものは失われることがあります。",
  refundAddressLabel: "{network} のご自身のアドレス",
  refundContinue: "次へ",
  refundCheck: "このアドレスで間違いありませんか？",
  refundCheckLead:
    "{network} でこのアドレスへ {amount} を送るよう、{merchant} に依頼します。すべての文字をウォレットと照らし合わせてください。間違ったアドレスに送られたものは失われ、アドレスは後から変更できません。",
  refundSend: "はい、返金を依頼します",
  refundChange: "変更する",
  refundReceived:
    "ありがとうございます。{merchant} がご依頼を受け付けました。返金が送信されると、このページに表示されます。",
  refundAlready:
    "このお支払いの返金はすでに依頼されており、内容は変更していません。心当たりがない場合は、すぐに {merchant} にご連絡のうえ、このお問い合わせ番号をお伝えください：{reference}",
  refundNothing:
    "このトランザクションに返金できるものは見つかりません。このページの承認済みのお支払いのうち最新のもののトランザクション ID を入力するか、{merchant} にご連絡ください。",
  refundTooEarly:
    "ネットワークがお支払いをまだ承認しています。普通は数分かかります。後でもう一度返金を依頼してください。1 日たってもできない場合は、{merchant} にご連絡ください。",
  refundBadAddress:
    "{network} のアドレスではないようです。ウォレットからもう一度コピーしてください。",
  refundAddressRefused:
    "このアドレスへの返金はお手元に届きません。ご自身のウォレットのアドレスを入力してください。",
  refunds: "返金",
  refundRequested: "{amount}（{address} 宛て）：依頼済み。",
  refundSent:
    "{amount}（{address} 宛て）：{merchant} が送金しました。トランザクションを確認しています。",
  refundConfirmed: "{amount}（{address} 宛て）：返金済み。",
  refundRejected: "{amount}（{address} 宛て）：{merchant} がお断りしました。理由：{reason}",
  refundWithdrawn:
    "{amount}（{address} 宛て）：取り下げ。お支払いが必要になったか、ネットワーク上になくなったためです。",

  details: "詳細",
  receipt: "お支払い明細",
  merchant: "販売元",
  asked: "請求額",
  invoiced: "ご注文の合計",
  received: "受取額",
  excess: "過払い額",
  network: "ネットワーク",
  reference: "お問い合わせ番号",
  paidAt: "お支払い日時",
  expires: "お支払い期限",
  expired: "終了した期限",
  transaction: "トランザクション",
  print: "明細を印刷",
  questions: "このお支払いについてのお問い合わせ",
  askMerchant: "{merchant} にご連絡のうえ、このお問い合わせ番号をお伝えください：",
  mailSubject: "お支払い {reference}",
  neverAsks: "このページがウォレットの秘密鍵やリカバリーフレーズをお尋ねすることはありません。",

  downloadReceipt: "明細をダウンロード",
  verifyTitle: "お支払い明細を検証",
  verifyLead:
    "署名付きのお支払い明細または支払いリクエストを貼り付けてください。署名により、このサイトが発行したものか、変更されていないかを確認できます。",
  verifyLabel: "署名付きテキスト",
  verifySend: "検証する",
  verifyReceipt: "このお支払い明細は本物です",
  verifyRequest: "この支払いリクエストは本物です",
  verifyRequestLead:
    "その後、支払い済みまたはキャンセルになっている場合があります。送金する前に支払いページを開き、アドレスと金額をウォレットの表示と照らし合わせてください。",
  verifyExpired: "期限が過ぎています。送金しないでください。",
  verifyOpen: "支払いページを開く",
  verifyRefused: "このテキストは検証できません",
  verifyChanged:
    "テキストが変更されているか、一部が欠けています。もう一度全体をコピーしてください。",
  verifyUnknown:
    "このサイトが署名したものではありません。別のサイトのものであれば、そちらで検証してください。",
  verifyNotSigned:
    "署名付きテキストではありません。署名付きテキストは、ピリオドを2つ含む、英数字の長い1行です。",
  verifyAddress: "アドレス",
  signedBy: "署名者",
  signedOn: "署名日時",

  linkTitle: "{merchant} へのお支払い",
  linkAmount: "金額（{currency}）",
  linkBetween: "{min} から {max} まで",
  linkAtLeast: "{min} 以上",
  linkAtMost: "{max} 以下",
  linkContinue: "お支払いに進む",
  linkOption: "トークンとネットワーク",
  linkBadOption: "このお支払い方法はご利用いただけません。一覧から選択してください。",
  linkBadAmount: "この金額はご利用いただけません。12.50 のように入力してください。",
  linkBroken:
    "お支払いを開始できません。{merchant} がこのリンクを修正する必要があります。何も送られていません。{merchant} にご連絡ください。",
  linkUnavailable:
    "現在お支払いを開始できません。何も送られていません。しばらくしてからお試しいただくか、{merchant} にご連絡ください。",
  linkScan: "スキャンして {merchant} に支払う",
  checkAgain: "もう一度確認",
  back: "{merchant} に戻る",
  language: "言語",
  connectionLost: "このページの情報は最新でない可能性があります。更新を試みています。",
  notFoundHeadline: "この支払いリンクは見つかりません",
  notFoundLead:
    "リンクが途中で切れていないかご確認いただくか、リンクを受け取ったお店にお問い合わせください。すでにお支払い済みの場合は、再度お支払いにならず、お店にお問い合わせください。",
  unavailableHeadline: "現在、確認できません",
  unavailableLead:
    "すでにお支払い済みの場合は、再度お支払いにならないでください。復旧次第、お支払いをお探しします。1 分後にもう一度ご確認ください。1 時間たってもこのページが戻らない場合は、お店にお問い合わせください。",
  busyHeadline: "少々お待ちください",
  busyLead:
    "このページへのアクセスが集中したため、少し間を置いています。すでにお支払い済みの場合は、再度お支払いにならないでください。お支払いは引き続きお探ししています。待ち時間：{time}。その後、もう一度ご確認ください。トランザクション ID を入力していた場合は、そのときにID をもう一度入力してください。",
  refusedHeadline: "うまくいきませんでした",
  refusedLead:
    "ブラウザから送られた内容を読み取れませんでした。何も変更されていません。お支払いのページに戻り、もう一度お試しください。",
  failedHeadline: "こちら側で問題が発生しました",
  failedLead:
    "すでにお支払い済みの場合は、再度お支払いにならないでください。お支払いは引き続きネットワークでお探ししています。1 分後にもう一度ご確認ください。",
  formNotReceived:
    "トランザクション ID を入力された場合は、届いていない可能性があります。お支払いのページに戻り、トランザクションが表示されていなければ、ID をもう一度入力してください。",
  failedReference: "何度も起こる場合は、この番号を販売元にお伝えください：{reference}",
  homeTitle: "お支払いページ",
  homeHeadline: "販売元への支払いを受け付けるページです",
  homeLead:
    "このサーバーは、暗号資産でのお支払いを受け付ける販売元のお支払いページを表示します。お支払いの際は、販売元から受け取ったリンク全体を開いてください。",
  homeDocs: "開発者向け：APIのドキュメント",
  testRibbon: "テストネットワーク：実際のお金ではありません",
};
