<?php
defined( 'ABSPATH' ) || exit;

/** Sends customers to the payment page of an invoice. */
class Till_Gateway extends WC_Payment_Gateway {
	/** Statuses of an invoice whose payment page the customer can still use. */
	const USABLE = array( 'open', 'partially_paid', 'confirming' );

	public function __construct() {
		$this->id                 = 'till';
		$this->method_title       = __( 'Till', 'till' );
		$this->method_description = __( 'Crypto payments into your own wallet.', 'till' );
		$this->has_fields         = false;
		// Till moves no money: refunds are sent from your wallet.
		$this->supports = array( 'products' );
		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		add_action( 'woocommerce_update_options_payment_gateways_till', array( $this, 'process_admin_options' ) );
	}

	public function init_form_fields() {
		$text              = static function ( $title, $default, $description, $type = 'text' ) {
			return compact( 'title', 'default', 'description', 'type' );
		};
		$this->form_fields = array(
			'enabled'        => array(
				'title'   => __( 'Enable', 'till' ),
				'type'    => 'checkbox',
				'label'   => __( 'Offer payments by Till', 'till' ),
				'default' => 'no',
			),
			'title'          => $text( __( 'Title', 'till' ), __( 'Crypto', 'till' ), __( 'Shown at the checkout.', 'till' ) ),
			'description'    => $text( __( 'Description', 'till' ), __( 'You pay from your wallet on the next page.', 'till' ), '' ),
			'url'            => $text( __( 'Address of Till', 'till' ), '', __( 'Such as https://pay.example.com', 'till' ) ),
			'api_key'        => $text( __( 'API key', 'till' ), '', __( 'With the scope shop.', 'till' ), 'password' ),
			'webhook_secret' => $text(
				__( 'Webhook secret', 'till' ),
				'',
				/* translators: %s: address */
				sprintf( __( 'Of an endpoint with the address %s. Without it, orders are updated only when customers return.', 'till' ), home_url( '/?wc-api=till' ) ),
				'password'
			),
			'token'          => $text( __( 'Token', 'till' ), '', __( 'Such as USDT, together with the network. Empty: the options of your payment policy.', 'till' ) ),
			'network'        => $text( __( 'Network', 'till' ), '', __( 'Such as tron.', 'till' ) ),
			'minutes'        => $text( __( 'Time to pay, in minutes', 'till' ), '60', '', 'number' ),
		);
	}

	public function is_available() {
		return parent::is_available() && '' !== $this->get_option( 'url' ) && '' !== $this->get_option( 'api_key' );
	}

	/** Called by the checkout; creates an invoice or finds the one of an earlier click. */
	public function process_payment( $order_id ) {
		$order = wc_get_order( $order_id );
		try {
			$invoice = $this->invoice_for( $order );
		} catch ( Till_Problem $problem ) {
			wc_get_logger()->error( "Order $order_id: {$problem->problem}: {$problem->getMessage()}", array( 'source' => 'till' ) );
			wc_add_notice( __( 'The payment could not be started. Please try again, or choose another way to pay.', 'till' ), 'error' );
			return array( 'result' => 'failure' );
		}
		return array(
			'result'   => 'success',
			'redirect' => 'paid' === $invoice['status'] ? $this->get_return_url( $order ) : $invoice['checkoutUrl'],
		);
	}

	/** @throws Till_Problem */
	private function invoice_for( WC_Order $order ) {
		$client       = self::client( $this );
		$organization = $client->organization();
		$attempt      = max( 1, (int) $order->get_meta( Till_Order::ATTEMPT ) );
		$id           = (string) $order->get_meta( Till_Order::CURRENT );
		if ( '' !== $id ) {
			$last = $client->invoice( $organization, $id );
			if ( 'paid' === $last['status'] ) {
				Till_Order::apply_invoice( $order, $last );
				$order->save();
				return $last;
			}
			$is_usable = in_array( $last['status'], self::USABLE, true );
			if ( $is_usable && ( 'open' !== $last['status'] || Till_Order::asks_for( $order, $last ) ) ) {
				return $last;
			}
			if ( $is_usable ) {
				$client->cancel_invoice( $organization, $id );
			}
			++$attempt;
		}
		$invoice = $client->create_invoice( $organization, $this->request_for( $order, $attempt ), self::key_of( $order, $attempt ) );
		Till_Order::attach( $order, $invoice, $attempt );
		return $invoice;
	}

	private function request_for( WC_Order $order, $attempt ) {
		$number  = $order->get_order_number();
		$request = array(
			'amount'             => Till_Order::amount_of( $order ),
			'settlementCurrency' => $order->get_currency(),
			// Unique in the organization.
			'externalId'         => 1 === $attempt ? "$number" : "$number-$attempt",
			/* translators: %s: number of an order */
			'description'        => sprintf( __( 'Order %s', 'till' ), $number ),
			'redirectUrl'        => $this->get_return_url( $order ),
			'expiresInSeconds'   => 60 * max( 5, (int) $this->get_option( 'minutes' ) ),
			'metadata'           => array( 'shop' => home_url(), 'orderId' => (string) $order->get_id() ),
		);
		if ( '' !== $this->get_option( 'token' ) && '' !== $this->get_option( 'network' ) ) {
			$request['tokenSymbol'] = $this->get_option( 'token' );
			$request['network']     = $this->get_option( 'network' );
		}
		return $request;
	}

	/** Returns the Idempotency-Key of an order's invoice: two clicks create one. Another total is another invoice. */
	private static function key_of( WC_Order $order, $attempt ) {
		$parts = array( home_url(), $order->get_id(), $order->get_order_key(), $attempt, Till_Order::amount_of( $order ) );
		return 'woocommerce-' . hash( 'sha256', implode( "\n", $parts ) );
	}

	/** Reads the current invoice when the customer returns, in case that webhooks are late or not set up. */
	public static function refresh( $order_id ) {
		$order   = wc_get_order( $order_id );
		$gateway = self::instance();
		$id      = $order ? (string) $order->get_meta( Till_Order::CURRENT ) : '';
		if ( '' === $id || null === $gateway || $order->is_paid() ) {
			return;
		}
		try {
			$client  = self::client( $gateway );
			$invoice = $client->invoice( $client->organization(), $id );
		} catch ( Till_Problem $problem ) {
			return;
		}
		if ( in_array( $invoice['status'], array( 'paid', 'confirming' ), true ) ) {
			Till_Order::apply_invoice( $order, $invoice );
			$order->save();
		}
	}

	/** WooCommerce cancels unpaid orders after a while, but not before the deadline of their invoice. */
	public static function may_cancel( $may, $order ) {
		if ( 'till' !== $order->get_payment_method() ) {
			return $may;
		}
		return $may && time() > (int) $order->get_meta( Till_Order::EXPIRES );
	}

	public static function instance() {
		$gateways = WC()->payment_gateways()->payment_gateways();
		return isset( $gateways['till'] ) ? $gateways['till'] : null;
	}

	private static function client( Till_Gateway $gateway ) {
		return new Till_Client( $gateway->get_option( 'url' ), $gateway->get_option( 'api_key' ) );
	}
}
