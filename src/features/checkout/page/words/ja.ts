import type { Catalogue } from "./en.ts";

/** The payers' texts in Japanese. Machine translation of en.ts, not yet reviewed by a native speaker. */
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
  arrives:
    "小数点以下の最後の桁まで、ちょうど {amount} が着金する必要があります。取引所から送る場合は、出金手数料を上乗せしてください。",
  onlyHere:
    "{network} ネットワークで {token} のみをお送りください。それ以外のものは販売元に届かず、取り戻すこともできません。",
  ownCoin: "ネットワーク手数料として、少額の {coin} も必要です。",
  unnamedCoin: "ネットワーク手数料として、{network} のネイティブトークンも少額必要です。",
  addressOn: "{network} のアドレス",
  copyAmount: "金額をコピー",
  copyAddress: "アドレスをコピー",
  copied: "コピーしました",
  amountCopied: "金額をコピーしました",
  addressCopied: "アドレスをコピーしました",
  copyFailed: "コピーできません。文字を選択してください",
  openWallet: "ウォレットで開く",
  showCode: "QRコードを表示",
  scanAddress:
    "{network} のアドレスです。金額は含まれません。{amount} とご自身で入力してください。",
  scanAll: "{network} のアドレス、トークン、金額です。",
  qrLabel: "QRコード：{network} で {address} へ {amount} を支払う",
  qrAddressLabel: "QRコード：{network} のアドレス {address}",
  otherCode: "金額が入ったQRコードを使う",
  scanCheck:
    "このコードを正しく読み取れないウォレットもあります。確定する前に、ウォレットに表示される送金先の末尾が {ending}、金額が {amount} であることを確認してください。異なる場合は送金せず、アドレスをお使いください。",
  payBy: "お支払い期限：",
  timeLeft: "残り {time}",
  timeLeftToPay: "お支払い期限まで残り {time}",
  dayTime: "{day} {time}",

  awaitingHeadline: "お支払いをお待ちしています",
  awaitingLead: "ネットワークが受け付けると、すぐにここに表示されます。",
  partlyPaidHeadline: "お支払いの一部が届きました",
  partlyPaidLead:
    "{payable} のうち {received} を受け取りました。残りの {remaining} をお送りいただくと、お支払いが完了します。",
  confirmingHeadline: "お支払いを検出しました",
  confirmingLead:
    "ネットワークが承認しています。所要時間の目安：{wait}。これ以上の操作は不要です。このページは閉じてもかまいません。",
  confirmationCount: "承認数：{current} / {required}",
  waitUnderMinute: "1 分未満",
  waitAbout: "約 {time}",
  inReviewHeadline: "お支払いが見つかり、販売元の確認待ちです",
  inReviewLead:
    "お支払いが見つかりました。{merchant} が受け付けるまでお待ちください。再度送金しないでください。結果はこのページに表示されます。",
  paidHeadline: "お支払いが完了しました",
  paidLead: "ありがとうございます。{merchant} がお支払いを受け取りました。",
  overpaidHeadline: "お支払い完了（超過分あり）",
  overpaidLead:
    "{received} を受け取りました。{excess} 多くお支払いいただいています。{merchant} がお支払いを受け取りました。",
  overpaidAction:
    "差額の返金をご希望の場合は、下記のお問い合わせ番号を添えて {merchant} にご連絡ください。",
  paidLateHeadline: "お支払いが完了しました（期限後）",
  paidLateLead:
    "お支払いは期限後に届きましたが、{merchant} が受け付けました。これ以上の操作は不要です。",
  paidLateOverpaidLead:
    "お支払いは期限後に届きましたが、{merchant} が受け付けました。{received} を受け取りました。{excess} 多くお支払いいただいています。",
  lateHeadline: "お支払いが期限後に届きました",
  lateLead:
    "期限を過ぎて届いたため、取り扱いは {merchant} が判断します。これ以上何も送らないでください。",
  expiredHeadline: "このお支払いは期限切れです",
  expiredLead:
    "このアドレスにはもう何も送らないでください。{merchant} に新しいリンクをご依頼ください。",
  expiredSent:
    "すでに送りましたか？その場合もお支払いは見つかります。このページのリンクを保存してください。しばらくしても表示されない場合は、下記のお問い合わせ番号を添えて {merchant} にご連絡ください。",
  expiredPartlyHeadline: "期限切れです（一部のみお支払い済み）",
  expiredPartlyLead:
    "{payable} のうち {received} を受け取りましたが、期限を過ぎました。残りの金額は、今は送らないでください。",
  canceledHeadline: "販売元がキャンセルしました",
  canceledLead:
    "{merchant} がこのお支払いをキャンセルしました。アドレスには何も送らないでください。",
  canceledPaidHeadline: "キャンセル後にお支払いが届きました",
  canceledPaidLead:
    "{merchant} がキャンセルした後に、お支払いが届きました。{merchant} が確認し、取り扱いを判断します。これ以上何も送らないでください。",
  cannotCheckHeadline: "現在、ネットワークを確認できません",
  cannotCheckLead:
    "お支払いは安全です。{network} を再び確認できるようになり次第、送られたものはすべて見つかります。二重に送金しないでください。",
  cannotCheckOpen:
    "まだお支払いでない場合は、今からでもお支払いいただけます。ネットワークに記録された時刻が基準になります。",
  cannotCheckOver:
    "まだお支払いでない場合は、今は送らないでください。期限を過ぎたか、まもなく期限です。1 分後にもう一度ご確認ください。",
  notAccepted:
    "{merchant} は現在、{network} でのこのトークンによるお支払いを受け付けていません。何も送らないでください。すでに送った場合は、下記のお問い合わせ番号を添えて {merchant} にご連絡ください。",
  cannotConfirmNow:
    "現在 {network} を確認できないため、承認数が最新でない可能性があります。お支払いは安全です。",
  revertedHeadline: "お支払いが一時的にチェーンから外れました",
  revertedLead:
    "{network} が最新のブロックを置き換え、お支払いはそのうちの 1 つに含まれていました。通常は数分で戻ります。再度送金しないでください。",
  revertedNext:
    "このページを閉じて、後でもう一度ご確認いただけます。お支払いが戻らない場合は、下記のお問い合わせ番号を添えて {merchant} にご連絡ください。",
  reverted:
    "以前ここに表示されていたお支払いがネットワークによって取り消され、まだ戻っていません。何かを送る前にウォレットをご確認ください。送信済みまたは保留中と表示されている間は、新たに送らないでください。",
  transactionFailed:
    "最後にお知らせいただいたトランザクションはネットワークで失敗し、資金は移動していません。ウォレットにも失敗と表示されるはずです。",
  contact: "下記のお問い合わせ番号を添えて {merchant} にご連絡ください。",
  lastChecked: "最終確認",
  never: "未確認",

  hashQuestion: "支払い済みなのに表示されませんか？",
  hashLead:
    "トランザクションハッシュ、またはブロックエクスプローラーのリンクを貼り付けてください。{network} で検索します。",
  hashLabel: "トランザクションハッシュ（TxID）またはリンク",
  hashSend: "検索",
  hashReceived:
    "ありがとうございます。トランザクションを検索しています。このお支払いのものと確認でき次第、このページに表示します。二重に送金しないでください。",
  hashMalformed:
    "トランザクションハッシュではないようです。ハッシュは数字と a から f までの文字を合わせて 64 文字で、先頭に 0x が付くこともあります。ウォレットまたは取引所からコピーして、もう一度貼り付けてください。",
  hashTooMany:
    "お知らせいただいたトランザクションを確認中です。結果をお待ちいただくか、販売元にご連絡ください。",

  hashSubmitted: "お知らせいただいたトランザクション",
  hashLooking: "このトランザクションを検索しています。",
  hashUnknown:
    "このトランザクションはまだネットワークにありません。1 時間検索を続けます。ハッシュが正しくコピーされているかご確認ください。",
  hashGivenUp:
    "このトランザクションは見つかりませんでした。現在ネットワークにある場合は、ハッシュをもう一度入力してください。",
  hashDisplaced:
    "このトランザクションは見つからず、新しいものを優先するため検索を終了しました。必要な場合は、ハッシュをもう一度入力してください。",
  hashCounted: "見つかりました。このお支払いに反映されています。",
  hashInReview: "見つかりました。このお支払いのものかどうかは {merchant} が判断します。",
  hashReverted:
    "このトランザクションを含むブロックがネットワークによって置き換えられました。ウォレットに送信済みまたは保留中と表示されている間は、新たに送らないでください。",
  hashFailed: "このトランザクションはネットワークで失敗したため、{token} は送られていません。",
  hashOtherAddress:
    "このトランザクションは、このお支払いのアドレスには何も送っていません。送金先をウォレットでご確認ください。",
  hashOtherToken:
    "このトランザクションで送られたものは {network} の {token} ではないため、反映されません。お問い合わせ番号を添えて {merchant} にご連絡ください。",
  hashTokenDisabled:
    "現在、{network} の {token} は受け付けられません。お問い合わせ番号を添えて {merchant} にご連絡ください。",
  hashTooSmall: "このトランザクションの金額は少なすぎるため、お支払いとして扱えません。",
  hashTooEarly: "このトランザクションはこのお支払いより前のものなので、対象ではありません。",
  hashTooLate:
    "期限から時間が経ちすぎているため、このトランザクションを照合できません。お問い合わせ番号を添えて {merchant} にご連絡ください。",
  hashNotForThis:
    "このトランザクションは、この請求のお支払いではありません。この請求のお支払いだと思われる場合は、お問い合わせ番号を添えて {merchant} にご連絡ください。",

  details: "詳細",
  receipt: "お支払い明細",
  merchant: "販売元",
  asked: "請求額",
  invoiced: "請求額",
  received: "受取額",
  excess: "過払い額",
  network: "ネットワーク",
  reference: "お問い合わせ番号",
  paidAt: "お支払い日時",
  expires: "お支払い期限",
  expired: "期限切れ",
  transaction: "トランザクション",
  print: "明細を印刷",
  questions: "このお支払いについてのお問い合わせ",
  askMerchant: "このお問い合わせ番号を添えて {merchant} にご連絡ください：",
  mailSubject: "お支払い {reference}",
  neverAsks: "このページがウォレットの秘密鍵やリカバリーフレーズをお尋ねすることはありません。",

  downloadReceipt: "署名付き明細をダウンロード",
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

  checkAgain: "もう一度確認",
  back: "{merchant} に戻る",
  language: "言語",
  connectionLost: "このページの情報は最新でない可能性があります。更新を試みています。",
  notFoundHeadline: "このお支払いは見つかりません",
  notFoundLead: "リンクをご確認いただくか、販売元に新しいリンクをご依頼ください。",
  unavailableHeadline: "現在、確認できません",
  unavailableLead:
    "お支払いは安全です。少し待ってから、もう一度ご確認ください。二重に送金しないでください。",
  busyHeadline: "少々お待ちください",
  busyLead:
    "このページへのアクセスが集中したため、少し間を置いています。お支払いは安全です。待ち時間：{time}。その後、もう一度ご確認ください。トランザクションハッシュを入力していた場合は、そのときにハッシュをもう一度入力してください。二重にお支払いにならないようご注意ください。",
  refusedHeadline: "うまくいきませんでした",
  refusedLead:
    "ブラウザから送られた内容を読み取れませんでした。何も変更されていません。お支払いのページに戻り、もう一度お試しください。",
  failedHeadline: "こちら側で問題が発生しました",
  failedLead:
    "すでにお支払い済みの場合も、お支払いは安全です。ネットワークで見つけられます。1 分後にもう一度ご確認ください。二重に送金しないでください。",
  formNotReceived:
    "トランザクションハッシュを入力された場合は、届いていない可能性があります。お支払いのページに戻り、トランザクションが表示されていなければ、ハッシュをもう一度入力してください。",
  failedReference: "何度も起こる場合は、この番号を販売元にお伝えください：{reference}",
  homeTitle: "お支払いページ",
  homeHeadline: "販売元への支払いを受け付けるページです",
  homeLead:
    "このサーバーは、暗号資産でのお支払いを受け付ける販売元のお支払いページを表示します。お支払いの際は、販売元から受け取ったリンク全体を開いてください。",
  homeDocs: "開発者向け：APIのドキュメント",
  testRibbon: "テストネットワーク：実際のお金ではありません",
};
