import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Vietnamese. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are
 * those of en.ts with the digest 8b303c81acb1.
 */
export const vi: Catalogue = {
  lang: "vi",
  dir: "ltr",
  name: "Tiếng Việt",

  payTitle: "Thanh toán {amount} cho {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Thanh toán cho",
  purpose: "Nội dung",
  order: "Đơn hàng",
  amountToPay: "Số tiền cần thanh toán",
  stillToPay: "Số tiền còn lại",
  onNetwork: "trên mạng {network}",
  price: "Giá: {amount}",
  lastDigits:
    "Chúng tôi nhận ra khoản thanh toán của bạn nhờ các chữ số cuối, vì vậy vui lòng không làm tròn số tiền.",
  twoDecimalsShared:
    "Ví của bạn chỉ nhận hai chữ số thập phân? Hãy dùng ví khác, hoặc gửi {rounded} rồi nhập mã giao dịch trên trang này: {merchant} sẽ ghi nhận giao dịch cho khoản thanh toán này.",
  twoDecimalsOwn: "Ví của bạn chỉ nhận hai chữ số thập phân? Vậy hãy gửi {rounded}.",
  arrives:
    "Số tiền nhận được phải đúng {amount}. Nếu sàn giao dịch trừ phí vào số tiền, hãy cộng thêm khoản phí đó.",
  onlyHere:
    "Chỉ gửi {token} trên mạng {network}. Mọi thứ khác sẽ không đến được người bán và không thể lấy lại.",
  ownCoin: "Nếu trả từ ví của mình, bạn cũng cần một ít {coin} để trả phí mạng.",
  unnamedCoin:
    "Nếu trả từ ví của mình, bạn cũng cần một ít đồng coin gốc của mạng {network} để trả phí mạng.",
  addressOn: "Địa chỉ trên mạng {network}",
  copyAmount: "Sao chép số tiền",
  copyAddress: "Sao chép địa chỉ",
  copied: "Đã sao chép",
  amountCopied: "Đã sao chép số tiền",
  addressCopied: "Đã sao chép địa chỉ",
  copyFailed: "Không sao chép được. Hãy chọn văn bản",
  openWallet: "Mở trong ví",
  showCode: "Hiện mã QR",
  hideCode: "Ẩn mã QR",
  scanAddress: "Địa chỉ trên mạng {network}, không kèm số tiền. Bạn tự nhập {amount}.",
  scanAll: "Địa chỉ, token và số tiền trên mạng {network}.",
  qrLabel: "Mã QR: thanh toán {amount} trên mạng {network} đến {address}",
  qrAddressLabel: "Mã QR: địa chỉ {address} trên mạng {network}",
  otherCode: "Dùng mã có sẵn số tiền",
  scanCheck:
    "Không phải ví nào cũng đọc đúng mã này. Trước khi xác nhận, ví của bạn phải hiển thị người nhận có địa chỉ kết thúc bằng {ending} và số tiền {amount}. Nếu ví hiển thị nội dung khác, đừng gửi mà hãy dùng địa chỉ.",
  otherOptions: "Thanh toán bằng token hoặc mạng khác",
  optionsLead:
    "Mỗi lựa chọn có số tiền và địa chỉ riêng. Bạn đã gửi rồi? Hãy đợi: khoản đó vẫn được tính theo tỷ giá đã hiển thị cho bạn.",
  optionChosen: "Số tiền và địa chỉ đã thay đổi.",
  optionRefused:
    "Cách thanh toán đó hiện không dùng được. Bạn có thể chọn cách khác hoặc thanh toán như bên dưới.",
  optionsFull:
    "Bạn đã chọn đủ số cách mà khoản thanh toán này cho phép. Bạn vẫn có thể chọn một trong các cách đó.",
  optionClosed: "Hiện không thể đổi cách thanh toán. Trang này cho biết bước tiếp theo.",
  paymentFolded: "Số tiền và địa chỉ để thanh toán",
  payBy: "Hạn thanh toán:",
  timeLeft: "Còn {time}",
  timeLeftToPay: "Còn {time} để thanh toán",
  dayTime: "{day}, {time}",

  walletPayWith: "Thanh toán bằng {wallet}",
  walletPay: "Thanh toán bằng ví của bạn",
  walletApps: "Mở trang này trong ứng dụng ví",
  walletWaiting: "Ví của bạn đang yêu cầu xác nhận. Hãy kiểm tra số tiền và địa chỉ trong ví.",
  walletSent:
    "Ví của bạn đã gửi khoản thanh toán. Khoản này sẽ hiện ở đây ngay khi mạng ghi nhận. Vui lòng không gửi lại.",
  walletUnsubmitted:
    "Ví của bạn đã gửi khoản thanh toán. Chúng tôi chưa ghi lại được giao dịch, nhưng vẫn sẽ tìm thấy trên mạng. Vui lòng không gửi lại.",
  walletRefused: "Bạn đã từ chối trong ví, nên chưa có gì được gửi đi.",
  walletWrongNetwork:
    "Ví của bạn không ở mạng {network}, nên chúng tôi không yêu cầu ví gửi gì cả. Hãy chuyển mạng trong ví rồi thử lại.",
  walletWrongToken:
    "Ví của bạn không xác nhận được đây là {token} trên mạng {network}, nên chúng tôi không yêu cầu ví gửi gì cả. Bạn vẫn có thể thanh toán đến địa chỉ trên trang này.",
  walletTooLittle:
    "Tài khoản này trong ví của bạn có ít hơn {amount}, nên chúng tôi không yêu cầu ví gửi gì cả.",
  walletSilent:
    "Ví của bạn không phản hồi. Hãy mở ví và kiểm tra: nếu khoản thanh toán này hiện là đã gửi hoặc đang chờ, vui lòng không gửi thêm. Nếu không, bạn có thể thanh toán đến địa chỉ trên trang này.",
  walletFailed:
    "Ví của bạn báo lỗi. Trước hết hãy kiểm tra trong ví: nếu khoản thanh toán này hiện là đã gửi hoặc đang chờ, vui lòng không gửi thêm.",
  walletChanged:
    "Khoản thanh toán này vừa thay đổi, nên chúng tôi không yêu cầu ví gửi gì cả. Trước hết hãy kiểm tra số tiền trên trang này.",
  walletOffline:
    "Chúng tôi không đọc được số tiền hiện tại, nên không yêu cầu ví gửi gì cả. Vui lòng thử lại sau giây lát.",
  awaitingHeadline: "Đang chờ bạn thanh toán",
  awaitingLead:
    "Bạn đã gửi rồi? Vui lòng đừng gửi hai lần: khoản thanh toán sẽ hiện ở đây. Bạn có thể đóng trang này rồi quay lại.",
  payAgain:
    "Nếu ví hoặc sàn giao dịch của bạn vẫn hiển thị là đã hoàn tất, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}. Nếu không, bạn có thể thanh toán lại bên dưới.",
  lookingLead:
    "Chúng tôi đang tìm giao dịch bạn đã nhập, việc này thường mất vài phút. Nếu không tìm thấy trong vòng một giờ, trang này sẽ cho biết.",
  lookingNext: "Vui lòng không thanh toán lại. Bạn có thể đóng trang này rồi quay lại.",
  lookingOver:
    "Đã hết thời gian thanh toán. Nếu khoản thanh toán của bạn đến muộn, {merchant} sẽ chấp nhận hoặc hoàn tiền.",
  lookingHeadline: "Đang tìm giao dịch của bạn",
  sentFailedHeadline: "Giao dịch của bạn đã thất bại",
  enteredHeadline: "Chúng tôi chưa tìm thấy khoản thanh toán của bạn",
  missingHeadline: "Chúng tôi không tìm thấy giao dịch của bạn",
  missingNext:
    "Hãy xem trong ví hoặc sàn giao dịch. Nếu khoản thanh toán hiển thị là đang chờ, hãy đợi. Nếu hiển thị là thất bại, tiền vẫn ở chỗ bạn. Nếu hiển thị là đã hoàn tất, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  enteredNext:
    "Bạn đã trả bằng giao dịch khác? Hãy nhập mã của giao dịch đó bên dưới. Bạn đã trả bằng giao dịch này? Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  goneHeadline: "Hãy xem ví trước khi thanh toán lại",
  goneLead:
    "Một khoản thanh toán mà chúng tôi từng thấy không còn trên mạng. Tiền của bạn không mất: hãy xem trong ví hoặc sàn giao dịch.",
  goneWait:
    "Ở đó hiển thị là đã gửi hoặc đang chờ? Hãy đợi và đừng thanh toán lại. Nếu một giờ sau khi gửi vẫn chưa thấy ở đây, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  goneFailed:
    "Ở đó hiển thị là thất bại? Khi đó tiền vẫn ở chỗ bạn và bạn có thể thanh toán lại bên dưới.",
  partlyPaidHeadline: "Đã nhận được một phần thanh toán",
  partlyPaidLead:
    "{merchant} đã nhận {received} trên tổng số {payable}. Hãy gửi {remaining} còn lại để hoàn tất thanh toán.",
  partlyArrived: "Đến nay {merchant} đã nhận {received} trên tổng số {payable}.",
  partlyPaidSent: "Bạn đã gửi phần còn lại? Vui lòng đừng gửi hai lần: phần đó sẽ hiện ở đây.",
  partlyPaidElse:
    "Bạn không gửi phần còn lại? Khi hết thời gian thanh toán, bạn có thể yêu cầu trả lại tiền tại đây.",
  partlyPaidGone:
    "{merchant} đã nhận {received}. Một khoản thanh toán khác mà chúng tôi từng thấy không còn trên mạng. Số tiền đó không mất: hãy xem trong ví hoặc sàn giao dịch.",
  partlyPaidFailed:
    "Ở đó hiển thị là thất bại? Khi đó số tiền ấy vẫn ở chỗ bạn và bạn có thể gửi {remaining} còn lại bên dưới.",
  confirmingHeadline: "Đã phát hiện khoản thanh toán",
  confirmingLead:
    "Bạn không cần làm gì thêm và có thể đóng trang này. Mạng đang xác nhận khoản thanh toán của bạn. Thời gian dự kiến: {wait}.",
  confirmationCount: "Số xác nhận: {current}/{required}",
  waitUnderMinute: "dưới một phút",
  waitAbout: "khoảng {time}",
  inReviewHeadline: "Đã tìm thấy thanh toán, đang chờ {merchant}",
  inReviewAmountHeadline: "Số tiền đến không đúng như yêu cầu",
  inReviewLead:
    "{merchant} sẽ chấp nhận khoản thanh toán của bạn hoặc hoàn tiền. Kết quả sẽ hiện trên trang này. Vui lòng không gửi gì cho đến lúc đó.",
  inReviewEntered:
    "{merchant} đã nhận {arrived}. Chúng tôi tìm thấy nhờ mã giao dịch bạn đã nhập, nên {merchant} kiểm tra trước xem khoản này có thuộc đơn hàng này không.",
  inReviewAmount: "{merchant} đã nhận {arrived} thay vì {payable}.",
  inReviewByHand:
    "{merchant} đã nhận {arrived}. Những khoản thanh toán như thế này được kiểm tra thủ công.",
  paidHeadline: "Đã thanh toán",
  paidLead: "Cảm ơn bạn! {merchant} đã nhận được khoản thanh toán của bạn.",
  overpaidHeadline: "Đã thanh toán. Bạn đã gửi dư {excess}",
  overpaidLead: "{merchant} đã nhận được khoản thanh toán của bạn.",
  sumPaid: "Bạn đã trả",
  sumAsked: "Tổng đơn hàng",
  sumExcess: "Dư",
  overpaidAction:
    "Để nhận lại {excess}, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  paidLateHeadline: "Đã thanh toán và được chấp nhận",
  paidLateLead:
    "Cảm ơn bạn! {merchant} đã chấp nhận khoản thanh toán của bạn. Bạn không cần làm gì thêm.",
  paidLateOverpaidLead: "{merchant} đã chấp nhận khoản thanh toán của bạn.",
  lateHeadline: "Khoản thanh toán của bạn đến khi đã hết giờ",
  lateLead:
    "{merchant} đã nhận {arrived} và sẽ chấp nhận khoản thanh toán của bạn hoặc hoàn tiền. Kết quả sẽ hiện trên trang này. Vui lòng không gửi thêm gì.",
  expiredHeadline: "Đã hết thời gian thanh toán",
  expiredLead:
    "Bạn chưa gửi? Vui lòng không gửi gì nữa. Hãy yêu cầu {merchant} cung cấp liên kết mới.",
  expiredElse: "Vui lòng không gửi gì lúc này.",
  newLink:
    "Thời gian thanh toán cũng đã hết, vì vậy vui lòng không gửi gì lúc này. Hãy yêu cầu liên kết mới từ {contact} và cung cấp mã tham chiếu này: {reference}.",
  expiredSent:
    "Bạn đã gửi rồi? Vui lòng không gửi lại: khoản thanh toán vẫn có thể hiện ở đây, vì vậy hãy giữ lại liên kết đến trang này. Một giờ sau khi gửi vẫn chưa thấy ở đây? Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  paymentMoved:
    "{merchant} đã chuyển khoản thanh toán đến đây sang một hóa đơn khác. Vui lòng không gửi gì đến địa chỉ này. Hãy hỏi {contact} liên kết của hóa đơn đó.",
  returnedHeadline: "Tiền của bạn đã được gửi trả",
  returningHeadline: "Tiền hoàn đang được gửi đến bạn",
  returnedLead:
    "{merchant} đã gửi trả {returned}. Vui lòng không gửi gì lúc này. Bạn vẫn muốn trả? Hãy yêu cầu {merchant} cung cấp liên kết mới.",
  expiredPartlyHeadline: "Chỉ một phần được trả",
  expiredPartlyLead:
    "{merchant} đã nhận {received} trên tổng số {payable}. Đã hết thời gian thanh toán, vì vậy vui lòng không gửi phần còn lại nữa.",
  expiredPartlyNext:
    "Hãy liên hệ {contact} về số tiền {received} và cung cấp mã tham chiếu này: {reference}.",
  canceledHeadline: "Đã bị {merchant} hủy",
  canceledLead: "{merchant} đã hủy đơn hàng này. Vui lòng không gửi gì.",
  canceledSent:
    "Bạn đã gửi rồi? Khoản thanh toán sẽ hiện ở đây, và khi đó bạn có thể yêu cầu hoàn tiền. Nếu một giờ sau khi gửi vẫn chưa thấy ở đây, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  notNeededLead: "{merchant} đã nhận {arrived}. Vui lòng không gửi thêm gì.",
  canceledPaidHeadline: "Đã hủy, nhưng khoản tiền của bạn đã đến",
  canceledPaidLead:
    "{merchant} đã hủy đơn hàng này trước khi {arrived} của bạn đến, và sẽ chấp nhận khoản thanh toán của bạn hoặc hoàn tiền. Kết quả sẽ hiện trên trang này. Vui lòng không gửi thêm gì.",
  cannotCheckHeadline: "Hiện chúng tôi không kiểm tra được mạng",
  cannotCheckSince: "Lần kiểm tra cuối: {time}.",
  cannotCheckLead:
    "Bạn đã gửi rồi? Vui lòng không gửi lại: khoản thanh toán sẽ được tìm thấy ngay khi đọc lại được mạng {network}.",
  cannotCheckOpen:
    "Bạn chưa thanh toán? Tốt nhất hãy đợi đến khi chúng tôi đọc lại được mạng. Nếu trong lúc đó hết giờ, hãy yêu cầu {merchant} cung cấp liên kết mới.",
  cannotCheckOver:
    "Bạn chưa thanh toán? Vui lòng đừng thanh toán lúc này. Hãy yêu cầu liên kết mới từ {contact}.",
  cannotCheckOverSent:
    "Chúng tôi vẫn đang chờ dữ liệu mới nhất của mạng {network}. Bạn đã gửi rồi? Vui lòng không gửi lại: khoản thanh toán của bạn sẽ hiện ở đây.",
  notAcceptedHeadline: "Hiện không thể thanh toán bằng cách này",
  notAccepted: "Vui lòng không gửi {token} trên mạng {network}: hiện {merchant} không nhận.",
  notAcceptedSent:
    "Bạn đã gửi rồi? Tiền không mất: tiền vào ví của {merchant}. Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  notAcceptedElse: "Bạn chưa thanh toán? Hãy hỏi {contact} về cách thanh toán khác.",
  notAcceptedOptions:
    "Bạn chưa thanh toán? Bạn có thể thanh toán bằng token hoặc mạng khác bên dưới.",
  cannotConfirmNow:
    "Khoản thanh toán của bạn đã được tìm thấy, vì vậy vui lòng không gửi lại. Hiện chúng tôi không kết nối được với mạng {network}, nên số lần xác nhận có thể chưa cập nhật. Bạn có thể đóng trang này rồi quay lại.",
  revertedHeadline: "Mạng phải xác nhận lại khoản thanh toán",
  revertedLead:
    "Vui lòng không thanh toán lại. Mạng {network} đã thay các khối mới nhất, đây là điều bình thường, và phải xác nhận khoản thanh toán của bạn lần thứ hai. Việc này thường mất vài phút. Tiền của bạn không mất.",
  revertedNext:
    "Bạn có thể đóng trang này rồi quay lại. Nếu một giờ sau khi gửi khoản thanh toán vẫn chưa được xác nhận, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  reverted:
    "Hãy xem trong ví trước khi gửi bất cứ thứ gì: mạng đã không giữ lại một khoản thanh toán từng hiện ở đây. Khi ví của bạn còn hiển thị là đã gửi hoặc đang chờ, vui lòng không gửi khoản khác.",
  transactionFailed:
    "Giao dịch bạn nhập đã thất bại trên mạng. Không có {token} nào được gửi đi: tiền vẫn ở chỗ bạn hoặc ở sàn giao dịch của bạn.",
  contactIfLong:
    "Sau một ngày vẫn chưa có quyết định? Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  contactOrRefund:
    "Sau một ngày vẫn chưa có quyết định, hoặc bạn muốn được hoàn tiền? Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  waitOrRefund: "Để chắc chắn có thể được hoàn tiền, hãy cho biết địa chỉ của bạn bên dưới.",

  hashQuestion: "Đã thanh toán nhưng không thấy ở đây?",
  hashAnother: "Nhập mã giao dịch khác",
  hashLead:
    "Dán mã giao dịch (TxID hoặc hash) hoặc liên kết của trình khám phá khối. Chúng tôi sẽ tìm trên mạng {network}.",
  hashLabel: "Mã giao dịch (TxID, hash) hoặc liên kết",
  hashSend: "Tìm",
  hashReceived:
    "Cảm ơn bạn. Chúng tôi đang tìm giao dịch của bạn. Giao dịch sẽ hiện trên trang này khi chúng tôi biết nó thuộc khoản thanh toán này. Vui lòng không gửi hai lần.",
  hashMalformed:
    "{problem} Mã giao dịch (TxID hoặc hash) có 64 ký tự, hoặc 66 nếu bắt đầu bằng 0x. Hãy sao chép từ ví hoặc sàn giao dịch rồi dán vào ô bên dưới.",
  hashTooShort: "Nội dung này quá ngắn.",
  hashTooLong: "Nội dung này quá dài.",
  hashWrongCharacter:
    "Đây không phải mã giao dịch: có ký tự khác ngoài chữ số và các chữ cái từ A đến F.",
  hashNotInLink: "Chúng tôi không tìm thấy đúng một mã giao dịch trong liên kết này.",
  hashIsAddress: "Đây là địa chỉ, không phải mã giao dịch.",
  hashTooMany:
    "Chúng tôi vẫn đang kiểm tra các giao dịch bạn đã cung cấp. Hãy chờ kết quả hoặc liên hệ {merchant}.",

  hashSubmitted: "Các giao dịch bạn đã cung cấp",
  hashLooking: "Chúng tôi đang tìm giao dịch này.",
  hashUnknown:
    "Mạng chưa có giao dịch này. Chúng tôi sẽ tiếp tục thử trong một giờ. Hãy so sánh mã giao dịch với mã trong ví hoặc sàn giao dịch của bạn.",
  hashGivenUp:
    "Chúng tôi đã tìm giao dịch này trong một giờ mà không thấy. Bạn có thể nhập lại mã giao dịch.",
  hashDisplaced:
    "Chúng tôi không tìm thấy giao dịch này và đã ngừng tìm để nhường chỗ cho giao dịch mới hơn. Nếu cần, hãy nhập lại mã giao dịch.",
  hashCounted: "Đã tìm thấy và tính vào khoản thanh toán này.",
  hashInReview:
    "Đã tìm thấy. {merchant} sẽ quyết định giao dịch có thuộc khoản thanh toán này hay không.",
  hashReverted:
    "Mạng chưa chính thức ghi nhận giao dịch này. Khi ví của bạn còn hiển thị là đã gửi hoặc đang chờ, vui lòng không gửi giao dịch khác.",
  hashFailed: "Giao dịch này đã thất bại trên mạng nên không có {token} nào được gửi.",
  hashOtherAddress:
    "Giao dịch này đến một địa chỉ khác, không phải địa chỉ của {merchant}. Hãy xem trong ví hoặc sàn giao dịch tiền đã đi đâu.",
  hashOtherToken:
    "Giao dịch này đã gửi thứ khác chứ không phải {token} trên mạng {network}. Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  hashTokenDisabled:
    "Hiện chúng tôi không thể nhận {token} trên mạng {network}. Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  hashTooSmall: "Số tiền của giao dịch này quá nhỏ để được tính là thanh toán.",
  hashTooEarly: "Giao dịch này có trước khoản thanh toán này nên không thể thuộc về nó.",
  hashTooLate:
    "Giao dịch này được thực hiện rất lâu sau khi hết thời gian thanh toán. Nếu đã đến địa chỉ của khoản thanh toán này thì tiền đang ở {merchant}. Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  hashNotForThis:
    "Giao dịch này không phải là thanh toán cho hóa đơn này. Nếu bạn nghĩ khác, hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",

  refundAmount: "Yêu cầu trả lại {amount}",
  refundNext:
    "Hãy nhấn nút và nhập một địa chỉ ví của chính bạn, hoặc địa chỉ nạp {token} trên mạng {network} của bạn tại sàn giao dịch. {merchant} tự gửi tiền hoàn, và bạn sẽ thấy ở đây khi tiền được gửi đi.",
  refundSoon:
    "Bạn có thể yêu cầu hoàn tiền tại đây sau vài phút, khi mạng đã xác nhận khoản thanh toán.",
  refundAsked:
    "Đã có yêu cầu hoàn {refund}. {merchant} tự gửi tiền, và bạn sẽ thấy ở đây khi tiền được gửi đi. Vài ngày sau vẫn chưa có gì? Hãy liên hệ {contact} và cung cấp mã tham chiếu này: {reference}.",
  refundLead:
    "{merchant} có thể gửi lại phần mà khoản thanh toán này không cần. Hãy nhập một địa chỉ của chính bạn: địa chỉ ví hoặc địa chỉ nạp tiền của bạn trên sàn giao dịch. Đừng nhập địa chỉ mà sàn giao dịch đã dùng để gửi khoản thanh toán: tiền gửi đến đó có thể bị mất.",
  refundAddressLabel: "Địa chỉ của chính bạn trên mạng {network}",
  refundContinue: "Tiếp tục",
  refundCheck: "Đây có phải địa chỉ của bạn không?",
  refundCheckLead:
    "Bạn đang yêu cầu {merchant} gửi {amount} trên mạng {network} đến địa chỉ này. Hãy so từng ký tự với ví của bạn: tiền gửi đến sai địa chỉ sẽ bị mất, và sau này bạn không thể đổi địa chỉ.",
  refundSend: "Đúng, yêu cầu hoàn tiền",
  refundChange: "Sửa địa chỉ",
  refundReceived:
    "Cảm ơn bạn. {merchant} đã nhận yêu cầu của bạn. Trang này sẽ cho biết khi tiền hoàn được gửi đi.",
  refundAlready:
    "Khoản thanh toán này đã có yêu cầu hoàn tiền, và chúng tôi không thay đổi yêu cầu đó. Nếu không phải bạn, hãy liên hệ ngay với {merchant} và cung cấp mã tham chiếu này: {reference}.",
  refundNothing:
    "Chúng tôi không tìm thấy gì để hoàn trong giao dịch này. Hãy nhập mã giao dịch của khoản thanh toán đã xác nhận mới nhất trên trang này, hoặc liên hệ {merchant}.",
  refundTooEarly:
    "Mạng vẫn đang xác nhận khoản thanh toán của bạn, việc này thường mất vài phút. Vui lòng yêu cầu hoàn tiền lại sau. Nếu sau một ngày vẫn không được, hãy liên hệ {merchant}.",
  refundBadAddress:
    "Đây có vẻ không phải địa chỉ trên mạng {network}. Hãy sao chép lại từ ví của bạn.",
  refundAddressRefused:
    "Tiền hoàn đến địa chỉ này sẽ không tới bạn. Hãy nhập địa chỉ ví của chính bạn.",
  refunds: "Hoàn tiền",
  refundRequested: "{amount} đến {address}: đã yêu cầu.",
  refundSent: "{amount} đến {address}: {merchant} đã gửi. Chúng tôi đang kiểm tra giao dịch.",
  refundConfirmed: "{amount} đến {address}: đã hoàn.",
  refundRejected: "{amount} đến {address}: {merchant} từ chối. Lý do: {reason}",
  refundWithdrawn:
    "{amount} đến {address}: đã rút lại, vì khoản thanh toán vẫn cần đến hoặc không còn trên mạng.",

  details: "Chi tiết",
  receipt: "Biên nhận",
  merchant: "Người bán",
  asked: "Số tiền yêu cầu",
  invoiced: "Tổng đơn hàng",
  received: "Đã nhận",
  excess: "Số tiền dư",
  network: "Mạng",
  reference: "Mã tham chiếu",
  paidAt: "Thanh toán lúc",
  expires: "Hạn thanh toán",
  expired: "Hết hạn lúc",
  transaction: "Giao dịch",
  print: "In biên nhận",
  questions: "Bạn có câu hỏi về khoản thanh toán này?",
  askMerchant: "Hãy liên hệ {merchant} và cung cấp mã tham chiếu này:",
  mailSubject: "Thanh toán {reference}",
  neverAsks: "Trang này không bao giờ hỏi khóa riêng tư hay cụm từ khôi phục của ví bạn.",

  downloadReceipt: "Tải biên nhận",
  verifyTitle: "Xác minh biên nhận",
  verifyLead:
    "Dán biên nhận hoặc yêu cầu thanh toán đã ký. Chữ ký cho biết văn bản có phải do trang này phát hành và chưa bị thay đổi hay không.",
  verifyLabel: "Văn bản đã ký",
  verifySend: "Xác minh",
  verifyReceipt: "Biên nhận này là thật",
  verifyRequest: "Yêu cầu thanh toán này là thật",
  verifyRequestLead:
    "Yêu cầu có thể đã được thanh toán hoặc bị hủy sau đó. Hãy mở trang thanh toán trước khi gửi bất cứ thứ gì, rồi so sánh địa chỉ và số tiền với nội dung hiển thị trong ví của bạn.",
  verifyExpired: "Đã quá hạn. Vui lòng không gửi gì.",
  verifyOpen: "Mở trang thanh toán",
  verifyRefused: "Chúng tôi không thể xác minh văn bản này",
  verifyChanged: "Văn bản đã bị thay đổi hoặc thiếu một phần. Hãy sao chép lại toàn bộ.",
  verifyUnknown:
    "Văn bản không do trang này ký. Nếu văn bản đến từ trang khác, hãy xác minh tại đó.",
  verifyNotSigned:
    "Đây không phải văn bản đã ký: văn bản đã ký là một dòng dài gồm chữ và số, có hai dấu chấm bên trong.",
  verifyAddress: "Địa chỉ",
  signedBy: "Người ký",
  signedOn: "Ngày ký",

  linkTitle: "Thanh toán cho {merchant}",
  linkAmount: "Số tiền bằng {currency}",
  linkBetween: "Từ {min} đến {max}",
  linkAtLeast: "Ít nhất {min}",
  linkAtMost: "Nhiều nhất {max}",
  linkContinue: "Tiếp tục thanh toán",
  linkOption: "Token và mạng",
  linkBadOption: "Cách thanh toán đó không có ở đây. Vui lòng chọn một cách trong danh sách.",
  linkBadAmount: "Không dùng được số tiền này ở đây. Hãy kiểm tra và viết như 12.50.",
  linkBroken:
    "Chưa thể bắt đầu thanh toán vì {merchant} cần sửa liên kết này trước. Chưa có gì được gửi đi. Vui lòng liên hệ {merchant}.",
  linkUnavailable:
    "Hiện chưa thể bắt đầu thanh toán. Chưa có gì được gửi đi. Vui lòng thử lại sau hoặc liên hệ {merchant}.",
  linkScan: "Quét để thanh toán cho {merchant}",
  checkAgain: "Kiểm tra lại",
  back: "Quay lại {merchant}",
  language: "Ngôn ngữ",
  connectionLost: "Trang này có thể chưa cập nhật. Chúng tôi đang cố làm mới trang.",
  notFoundHeadline: "Không tìm thấy liên kết thanh toán này",
  notFoundLead:
    "Hãy kiểm tra xem liên kết có đầy đủ không, hoặc hỏi cửa hàng đã đưa liên kết cho bạn. Nếu bạn đã thanh toán, vui lòng không thanh toán lại: hãy hỏi cửa hàng.",
  unavailableHeadline: "Hiện chúng tôi không thể kiểm tra",
  unavailableLead:
    "Bạn đã thanh toán? Vui lòng không thanh toán lại: chúng tôi sẽ tìm khoản thanh toán ngay khi mọi thứ hoạt động trở lại. Hãy kiểm tra lại sau một phút. Nếu sau một giờ trang này vẫn chưa hoạt động, hãy hỏi cửa hàng.",
  busyHeadline: "Vui lòng đợi một chút",
  busyLead:
    "Trang này vừa được truy cập quá nhiều lần nên chúng tôi tạm nghỉ một chút. Bạn đã thanh toán? Vui lòng không thanh toán lại: chúng tôi vẫn đang tìm khoản thanh toán của bạn. Thời gian chờ: {time}. Sau đó hãy kiểm tra lại. Nếu bạn đang nhập mã giao dịch, hãy nhập lại mã lúc đó.",
  refusedHeadline: "Thao tác không thành công",
  refusedLead:
    "Chúng tôi không đọc được nội dung trình duyệt của bạn gửi, và không có gì thay đổi. Hãy quay lại trang thanh toán và thử lại.",
  failedHeadline: "Đã xảy ra lỗi từ phía chúng tôi",
  failedLead:
    "Bạn đã thanh toán? Vui lòng không thanh toán lại: chúng tôi vẫn đang tìm khoản thanh toán của bạn trên mạng. Hãy kiểm tra lại sau một phút.",
  formNotReceived:
    "Nếu bạn đã nhập mã giao dịch, có thể chúng tôi chưa nhận được mã. Vui lòng quay lại trang thanh toán và nhập lại mã nếu không thấy giao dịch ở đó.",
  failedReference: "Nếu lỗi này còn lặp lại, hãy gửi mã sau cho người bán: {reference}",
  homeTitle: "Trang thanh toán",
  homeHeadline: "Nơi người bán nhận thanh toán",
  homeLead:
    "Máy chủ này hiển thị trang thanh toán của những người bán nhận tiền mã hóa. Để thanh toán, hãy mở liên kết đầy đủ mà người bán đã gửi cho bạn.",
  homeDocs: "Dành cho nhà phát triển: tài liệu API",
  testRibbon: "Mạng thử nghiệm: không phải tiền thật",
};
