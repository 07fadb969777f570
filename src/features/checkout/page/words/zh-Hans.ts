import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in simplified Chinese. Machine translation of en.ts, not yet reviewed by a native speaker. Its
 * texts are those of en.ts with the digest 8b303c81acb1.
 */
export const zhHans: Catalogue = {
  lang: "zh-Hans",
  dir: "ltr",
  name: "简体中文",

  payTitle: "向 {merchant} 支付 {amount}",
  stateTitle: "{headline} · {merchant}",
  payTo: "收款方",
  purpose: "用途",
  order: "订单号",
  amountToPay: "应付金额",
  stillToPay: "待付金额",
  onNetwork: "{network} 网络",
  price: "价格：{amount}",
  lastDigits: "我们通过末尾几位数字识别您的付款，请勿将金额取整。",
  twoDecimalsShared:
    "您的钱包只支持两位小数？请换一个钱包，或发送 {rounded}，再在本页输入交易 ID：{merchant} 会将其计入这笔付款。",
  twoDecimalsOwn: "您的钱包只支持两位小数？那么请发送 {rounded}。",
  arrives: "实际到账金额必须正好是 {amount}。如果交易所从金额中扣除手续费，请另外加上手续费。",
  onlyHere:
    "请仅通过 {network} 网络发送 {token}。发送其他代币或使用其他网络，商家将无法收到，也无法找回。",
  ownCoin: "从您自己的钱包付款时，还需要少量 {coin} 来支付网络手续费。",
  unnamedCoin: "从您自己的钱包付款时，还需要少量 {network} 网络的原生币来支付网络手续费。",
  addressOn: "{network} 网络地址",
  copyAmount: "复制金额",
  copyAddress: "复制地址",
  copied: "已复制",
  amountCopied: "金额已复制",
  addressCopied: "地址已复制",
  copyFailed: "无法复制，请手动选择文本",
  openWallet: "在钱包中打开",
  showCode: "显示二维码",
  hideCode: "隐藏二维码",
  scanAddress: "{network} 网络地址，不含金额。请自行输入 {amount}。",
  scanAll: "{network} 网络上的地址、代币和金额。",
  qrLabel: "二维码：通过 {network} 网络向 {address} 支付 {amount}",
  qrAddressLabel: "二维码：{network} 网络地址 {address}",
  otherCode: "使用包含金额的二维码",
  scanCheck:
    "并非所有钱包都能正确识别此二维码。确认之前，请核对您的钱包显示的收款地址以 {ending} 结尾，金额为 {amount}。如果显示的不是这些内容，请勿发送，改为使用地址付款。",
  otherOptions: "用其他代币或网络付款",
  optionsLead: "每个选项都有各自的金额和地址。已经转账了？请稍候：仍会按当时显示的汇率计入。",
  optionChosen: "金额和地址已更改。",
  optionRefused: "这种付款方式目前不可用。您可以选择其他方式，或按下方所示付款。",
  optionsFull: "您选择的付款方式已达到这笔付款的上限。您仍可从中选择一种。",
  optionClosed: "现在无法更改付款方式。本页会显示下一步。",
  paymentFolded: "付款金额和地址",
  payBy: "付款截止时间：",
  timeLeft: "剩余时间：{time}",
  timeLeftToPay: "剩余付款时间：{time}",
  dayTime: "{day} {time}",

  walletPayWith: "使用 {wallet} 付款",
  walletPay: "使用您的钱包付款",
  walletApps: "在钱包应用中打开此页面",
  walletWaiting: "您的钱包正在请求确认。请在钱包中核对金额和地址。",
  walletSent: "您的钱包已发送付款。网络收到后会显示在此处。请勿再次发送。",
  walletUnsubmitted:
    "您的钱包已发送付款。我们未能记录这笔交易，但仍会在网络上找到它。请勿再次发送。",
  walletRefused: "您在钱包中拒绝了，因此没有发送任何款项。",
  walletWrongNetwork:
    "您的钱包不在 {network} 网络上，因此我们没有请求它发送任何款项。请在钱包中切换网络后重试。",
  walletWrongToken:
    "您的钱包无法确认这是 {network} 网络上的 {token}，因此我们没有请求它发送任何款项。您仍可以向此页面上的地址付款。",
  walletTooLittle: "您钱包的这个账户余额不足 {amount}，因此我们没有请求它发送任何款项。",
  walletSilent:
    "您的钱包没有响应。请打开钱包查看：如果这笔付款显示为已发送或待处理，请勿再发送。否则，您可以向此页面上的地址付款。",
  walletFailed:
    "您的钱包报告了问题。请先在钱包中查看：如果这笔付款显示为已发送或待处理，请勿再发送。",
  walletChanged:
    "这笔付款刚刚有变化，因此我们没有请求您的钱包发送任何款项。请先核对此页面上的金额。",
  walletOffline: "我们无法读取当前金额，因此没有请求您的钱包发送任何款项。请稍后再试。",
  awaitingHeadline: "等待您付款",
  awaitingLead: "已经发送了？请勿重复发送：付款会显示在这里。您可以关闭此页面，稍后再回来。",
  payAgain:
    "如果您的钱包或交易所仍显示它已完成，请先联系 {contact} 并提供此付款编号：{reference}。否则，您可以在下方再次付款。",
  lookingLead: "我们正在查找您输入的交易，通常需要几分钟。如果一小时内找不到，此页面会说明。",
  lookingNext: "请勿再次付款。您可以关闭此页面，稍后再回来。",
  lookingOver: "付款时间已结束。如果您的付款到达得晚，{merchant} 将接受付款，或为您退款。",
  lookingHeadline: "正在查找您的交易",
  sentFailedHeadline: "您的交易失败了",
  enteredHeadline: "我们还没有找到您的付款",
  missingHeadline: "我们找不到您的交易",
  missingNext:
    "请查看您的钱包或交易所。如果付款显示为待处理，请等待。如果显示为失败，款项仍在您手中。如果显示为已完成，请联系 {contact} 并提供此付款编号：{reference}。",
  enteredNext:
    "用另一笔交易付款？请在下方输入其交易 ID。确实用这笔交易付款？请联系 {contact} 并提供此付款编号：{reference}。",
  goneHeadline: "再次付款前，请先查看您的钱包",
  goneLead: "我们之前看到的一笔付款已不在网络上。您的资金没有丢失：请查看您的钱包或交易所。",
  goneWait:
    "那里显示为已发送或待处理？请等待，不要再次付款。如果发送一小时后这里仍未显示，请联系 {contact} 并提供此付款编号：{reference}。",
  goneFailed: "那里显示为失败？那么款项仍在您手中，您可以在下方再次付款。",
  partlyPaidHeadline: "已收到部分付款",
  partlyPaidLead:
    "应付 {payable}，{merchant} 已收到 {received}。请再发送剩余的 {remaining} 以完成付款。",
  partlyArrived: "应付 {payable}，{merchant} 目前已收到 {received}。",
  partlyPaidSent: "已经发送了剩余金额？请勿重复发送：它会显示在这里。",
  partlyPaidElse: "不再发送剩余金额？付款时间结束后，您可以在这里申请退款。",
  partlyPaidGone:
    "{merchant} 已收到 {received}。我们之前看到的另一笔付款已不在网络上。这笔资金没有丢失：请查看您的钱包或交易所。",
  partlyPaidFailed: "那里显示为失败？那么这笔资金仍在您手中，您可以在下方发送剩余的 {remaining}。",
  confirmingHeadline: "已检测到您的付款",
  confirmingLead: "您无需再做任何操作，可以关闭此页面。网络正在确认您的付款，预计时间：{wait}。",
  confirmationCount: "确认数：{current}/{required}",
  waitUnderMinute: "不到 1 分钟",
  waitAbout: "大约{time}",
  inReviewHeadline: "已找到付款，等待 {merchant} 确认",
  inReviewAmountHeadline: "到账金额与应付金额不同",
  inReviewLead:
    "{merchant} 将接受您的付款，或为您退款。结果会显示在此页面。在此之前请勿发送任何款项。",
  inReviewEntered:
    "{merchant} 已收到 {arrived}。这笔付款是用您输入的交易 ID 找到的，因此 {merchant} 要先核对它是否属于此订单。",
  inReviewAmount: "应付 {payable}，但 {merchant} 收到的是 {arrived}。",
  inReviewByHand: "{merchant} 已收到 {arrived}。此类付款由人工核对。",
  paidHeadline: "付款成功",
  paidLead: "谢谢！{merchant} 已收到您的付款。",
  overpaidHeadline: "已付款，您多付了 {excess}",
  overpaidLead: "{merchant} 已收到您的付款。",
  sumPaid: "您已付",
  sumAsked: "订单总额",
  sumExcess: "多付",
  overpaidAction: "如需退还 {excess}，请联系 {contact} 并提供此付款编号：{reference}。",
  paidLateHeadline: "已付款，商家已接受",
  paidLateLead: "谢谢！{merchant} 已接受您的付款。您无需再做任何操作。",
  paidLateOverpaidLead: "{merchant} 已接受您的付款。",
  lateHeadline: "您的付款在付款时间结束后到达",
  lateLead:
    "{merchant} 已收到 {arrived}，将接受您的付款，或为您退款。结果会显示在此页面。请勿再发送任何款项。",
  expiredHeadline: "付款时间已结束",
  expiredLead: "还没发送？现在请勿发送任何款项。请向 {merchant} 索取新的链接。",
  expiredElse: "现在请勿发送任何款项。",
  newLink:
    "付款时间也已结束，现在请勿发送任何款项。如需新的链接，请联系 {contact} 并提供此付款编号：{reference}。",
  expiredSent:
    "已经发送了？请勿重复发送：付款仍可能显示在这里，请保留此页面的链接。发送一小时后这里仍未显示？请联系 {contact} 并提供此付款编号：{reference}。",
  paymentMoved:
    "{merchant} 已将此处收到的款项转到另一张账单。请勿向此地址发送任何款项。请向 {contact} 索取该账单的链接。",
  returnedHeadline: "您的款项已退回",
  returningHeadline: "退款正在路上",
  returnedLead:
    "{merchant} 已退回 {returned}。现在请勿发送任何款项。仍想付款？请向 {merchant} 索取新的链接。",
  expiredPartlyHeadline: "仅部分款项到账",
  expiredPartlyLead:
    "应付 {payable}，{merchant} 已收到 {received}。付款时间已结束，请不要再发送剩余金额。",
  expiredPartlyNext: "关于已收到的 {received}，请联系 {contact} 并提供此付款编号：{reference}。",
  canceledHeadline: "{merchant} 已取消",
  canceledLead: "{merchant} 已取消此订单。请勿发送任何款项。",
  canceledSent:
    "已经发送了？付款会显示在这里，届时您可以申请退款。如果发送一小时后这里仍未显示，请联系 {contact} 并提供此付款编号：{reference}。",
  notNeededLead: "{merchant} 已收到 {arrived}。请勿再发送任何款项。",
  canceledPaidHeadline: "已取消，但您的付款已到达",
  canceledPaidLead:
    "您的 {arrived} 到达之前，{merchant} 已取消此订单，将接受您的付款，或为您退款。结果会显示在此页面。请勿再发送任何款项。",
  cannotCheckHeadline: "目前无法查询网络",
  cannotCheckSince: "上次查询：{time}。",
  cannotCheckLead: "已经发送了？请勿重复发送：{network} 网络恢复读取后就会找到您的付款。",
  cannotCheckOpen:
    "还没付款？最好等到我们能重新读取网络。如果在此期间付款时间结束，请向 {merchant} 索取新的链接。",
  cannotCheckOver: "还没付款？现在请勿付款。请向 {contact} 索取新的链接。",
  cannotCheckOverSent:
    "我们仍在等待 {network} 网络的最新数据。已经发送了？请勿重复发送：您的付款会显示在这里。",
  notAcceptedHeadline: "目前无法以此方式付款",
  notAccepted: "请勿在 {network} 网络上发送 {token}：{merchant} 目前不接受。",
  notAcceptedSent:
    "已经发送了？资金没有丢失，会进入 {merchant} 的钱包。请联系 {contact} 并提供此付款编号：{reference}。",
  notAcceptedElse: "还没付款？请向 {contact} 询问其他付款方式。",
  notAcceptedOptions: "还没付款？您可以在下方用其他代币或网络付款。",
  cannotConfirmNow:
    "您的付款已找到，请勿重复发送。目前无法连接 {network} 网络，因此确认次数可能不是最新的。您可以关闭此页面，稍后再回来。",
  revertedHeadline: "网络需要重新确认您的付款",
  revertedLead:
    "请勿再次付款。{network} 网络替换了最新的区块，这是正常情况，需要再次确认您的付款。通常需要几分钟。您的资金没有丢失。",
  revertedNext:
    "您可以关闭此页面，稍后再回来。如果发送一小时后您的付款仍未确认，请联系 {contact} 并提供此付款编号：{reference}。",
  reverted:
    "发送任何款项之前，请先查看您的钱包：网络没有保留之前在此显示的一笔付款。只要您的钱包仍将它显示为已发送或待处理，就请不要再发送。",
  transactionFailed: "您输入的交易在网络上失败了。没有发送 {token}：资金仍在您手中或您的交易所。",
  contactIfLong: "一天后仍没有结果？请联系 {contact} 并提供此付款编号：{reference}。",
  contactOrRefund: "一天后仍没有结果，或想要退款？请联系 {contact} 并提供此付款编号：{reference}。",
  waitOrRefund: "为确保能够退款，请在下方留下您的地址。",

  hashQuestion: "已经付款，但这里没有显示？",
  hashAnother: "输入其他交易 ID",
  hashLead: "请粘贴交易 ID（TxID 或哈希）或区块浏览器的链接，我们会在 {network} 网络上查找。",
  hashLabel: "交易 ID（TxID 或哈希）或链接",
  hashSend: "查找",
  hashReceived: "谢谢。我们正在查找您的交易，确认它属于此付款后会显示在此页面。请勿重复发送。",
  hashMalformed:
    "{problem}交易 ID（TxID 或哈希）有 64 个字符，以 0x 开头时为 66 个。请从钱包或交易所复制，并粘贴到下面的输入框中。",
  hashTooShort: "输入的内容太短。",
  hashTooLong: "输入的内容太长。",
  hashWrongCharacter: "这不是交易 ID：其中有数字和字母 A 到 F 以外的字符。",
  hashNotInLink: "我们无法在此链接中找到唯一的交易 ID。",
  hashIsAddress: "这是地址，不是交易 ID。",
  hashTooMany: "我们还在核对您提交的交易。请等待结果，或联系 {merchant}。",

  hashSubmitted: "您提交的交易",
  hashLooking: "正在查找这笔交易。",
  hashUnknown:
    "网络上还没有这笔交易。我们会在一小时内继续查找。请将交易 ID 与您钱包或交易所中的核对一下。",
  hashGivenUp: "我们查找了这笔交易一小时，仍未找到。您可以重新输入交易 ID。",
  hashDisplaced:
    "我们没有找到这笔交易，并已停止查找，以便处理更新的交易。如有需要，请重新输入交易 ID。",
  hashCounted: "已找到，并已计入此付款。",
  hashInReview: "已找到。将由 {merchant} 决定它是否属于此付款。",
  hashReverted:
    "网络尚未最终确定这笔交易。只要您的钱包仍将它显示为已发送或待处理，就请不要再发送。",
  hashFailed: "这笔交易在网络上失败了，没有发送任何 {token}。",
  hashOtherAddress:
    "这笔交易去了另一个地址，而不是 {merchant} 的地址。请在您的钱包或交易所中查看它去了哪里。",
  hashOtherToken:
    "这笔交易发送的不是 {network} 网络上的 {token}。请联系 {contact} 并提供此付款编号：{reference}。",
  hashTokenDisabled:
    "我们目前无法接受 {network} 网络上的 {token}。请联系 {contact} 并提供此付款编号：{reference}。",
  hashTooSmall: "这笔交易的金额太小，不能计为付款。",
  hashTooEarly: "这笔交易早于此付款，因此不可能属于此付款。",
  hashTooLate:
    "这笔交易是在付款时间结束很久之后进行的。如果它到了这笔付款的地址，款项就在 {merchant} 那里。请联系 {contact} 并提供此付款编号：{reference}。",
  hashNotForThis:
    "这笔交易不是此账单的付款。如果您认为是，请联系 {contact} 并提供此付款编号：{reference}。",

  refundAmount: "申请退回 {amount}",
  refundNext:
    "请点击按钮，并输入您自己钱包的地址，或您在交易所用于 {network} 网络 {token} 的充值地址。{merchant} 会人工退款，发出后您会在这里看到。",
  refundSoon: "几分钟后，网络确认付款后，您可以在此申请退款。",
  refundAsked:
    "已申请退款 {refund}。{merchant} 会人工退款，发出后您会在这里看到。几天后仍没有消息？请联系 {contact} 并提供此付款编号：{reference}。",
  refundLead:
    "{merchant} 可以退回这笔付款不需要的部分。请输入您自己的地址：您钱包的地址，或您在交易所的充值地址。请不要输入交易所用来发出您付款的地址：发送到那里的款项可能会丢失。",
  refundAddressLabel: "您自己在 {network} 上的地址",
  refundContinue: "继续",
  refundCheck: "这是您的地址吗？",
  refundCheckLead:
    "您正在请 {merchant} 通过 {network} 向此地址发送 {amount}。请与您的钱包逐个字符核对：发送到错误地址的款项会丢失，之后也无法更改地址。",
  refundSend: "是的，申请退款",
  refundChange: "修改",
  refundReceived: "谢谢。{merchant} 已收到您的申请。退款发出后，此页面会显示。",
  refundAlready:
    "这笔付款已有人申请退款，我们没有更改该申请。如果不是您申请的，请立即联系 {merchant} 并提供此付款编号：{reference}。",
  refundNothing:
    "这笔交易中没有可退的款项。请输入本页上您最新一笔已确认付款的交易 ID，或联系 {merchant}。",
  refundTooEarly:
    "网络仍在确认您的付款，通常需要几分钟。请稍后再次申请退款。如果一天之内仍不成功，请联系 {merchant}。",
  refundBadAddress: "这看起来不是 {network} 的地址。请从您的钱包重新复制。",
  refundAddressRefused: "退款到此地址不会到达您手中。请输入您自己钱包的地址。",
  refunds: "退款",
  refundRequested: "{amount} 退至 {address}：已申请。",
  refundSent: "{amount} 退至 {address}：{merchant} 已发送。我们正在核实这笔交易。",
  refundConfirmed: "{amount} 退至 {address}：已退款。",
  refundRejected: "{amount} 退至 {address}：{merchant} 已拒绝。原因：{reason}",
  refundWithdrawn: "{amount} 退至 {address}：已撤回，因为这笔付款仍然需要，或已不在网络上。",

  details: "详情",
  receipt: "收据",
  merchant: "商家",
  asked: "请求金额",
  invoiced: "订单总额",
  received: "已收金额",
  excess: "多付金额",
  network: "网络",
  reference: "付款编号",
  paidAt: "付款时间",
  expires: "截止时间",
  expired: "付款时间结束于",
  transaction: "交易",
  print: "打印收据",
  questions: "对此付款有疑问？",
  askMerchant: "请联系 {merchant} 并提供此付款编号：",
  mailSubject: "付款 {reference}",
  neverAsks: "此页面绝不会索要您钱包的私钥或助记词。",

  downloadReceipt: "下载收据",
  verifyTitle: "验证收据",
  verifyLead: "粘贴已签名的收据或付款请求。通过签名可以核实该文本是否出自本网站、是否被更改过。",
  verifyLabel: "签名文本",
  verifySend: "验证",
  verifyReceipt: "此收据是真实的",
  verifyRequest: "此付款请求是真实的",
  verifyRequestLead:
    "它可能已被支付或取消。付款前，请先打开付款页面，并将地址和金额与您钱包中显示的内容核对。",
  verifyExpired: "付款期限已过。请不要发送任何款项。",
  verifyOpen: "打开付款页面",
  verifyRefused: "我们无法验证此文本",
  verifyChanged: "文本已被更改，或缺少一部分。请重新复制完整文本。",
  verifyUnknown: "此文本不是由本网站签名的。如果它来自其他网站，请在那里验证。",
  verifyNotSigned: "这不是签名文本：签名文本是由字母和数字组成的一长行，其中有两个句点。",
  verifyAddress: "地址",
  signedBy: "签名方",
  signedOn: "签名时间",

  linkTitle: "向 {merchant} 付款",
  linkAmount: "金额（{currency}）",
  linkBetween: "{min} 至 {max}",
  linkAtLeast: "至少 {min}",
  linkAtMost: "最多 {max}",
  linkContinue: "继续付款",
  linkOption: "代币和网络",
  linkBadOption: "此处不能使用这种付款方式。请从列表中选择一种。",
  linkBadAmount: "此处不能使用该金额。请检查并按 12.50 的格式填写。",
  linkBroken:
    "无法开始付款，因为 {merchant} 需要先更正此链接。没有发送任何款项。请联系 {merchant}。",
  linkUnavailable: "现在无法开始付款。没有发送任何款项。请稍后再试，或联系 {merchant}。",
  linkScan: "扫码向 {merchant} 付款",
  checkAgain: "重新查看",
  back: "返回 {merchant}",
  language: "语言",
  connectionLost: "此页面可能不是最新的，我们正在尝试刷新。",
  notFoundHeadline: "找不到此付款链接",
  notFoundLead:
    "请检查链接是否完整，或询问给您链接的商店。如果您已经付款，请勿再次付款：请询问商店。",
  unavailableHeadline: "目前无法查询",
  unavailableLead:
    "已经付款？请勿再次付款：恢复正常后，我们会立即查找您的付款。请一分钟后再查看。如果一小时后此页面仍未恢复，请询问商店。",
  busyHeadline: "请稍等",
  busyLead:
    "此页面刚才的访问过于频繁，因此需要暂停片刻。已经付款？请勿再次付款：我们仍在查找您的付款。等待时间：{time}。之后请重新查看。如果您当时正在提交交易 ID，请届时重新提交该 ID。",
  refusedHeadline: "操作没有成功",
  refusedLead: "我们无法读取您的浏览器发送的内容，因此没有做任何更改。请返回付款页面重试。",
  failedHeadline: "我们这边出了点问题",
  failedLead: "已经付款？请勿再次付款：我们仍在网络上查找您的付款。请一分钟后再查看。",
  formNotReceived:
    "如果您提交了交易 ID，我们可能没有收到。请返回付款页面查看，如果那里没有列出这笔交易，请重新提交交易 ID。",
  failedReference: "如果问题持续出现，请将此编号告知商家：{reference}",
  homeTitle: "付款页面",
  homeHeadline: "商家在这里收款",
  homeLead: "此服务器提供商家的加密货币付款页面。如需付款，请打开商家提供给您的完整链接。",
  homeDocs: "开发者：API 文档",
  testRibbon: "测试网络：非真实资金",
};
