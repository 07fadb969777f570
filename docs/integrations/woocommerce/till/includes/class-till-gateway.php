<?php
defined( 'ABSPATH' ) || exit;

/** Sends customers to the payment page of an invoice. */
class Till_Gateway extends Till_Settings {
	/** Statuses of an invoice whose payment page the customer can still use. */
	const USABLE = array( 'open', 'partially_paid', 'confirming' );
	/** Attempts to find a number that no other invoice of the organization has, such as after a backup was restored. */
	const NUMBERS_MAX = 5;
	/** The transient with the accepted tokens, and the seconds for which an answer and a failure are kept. */
	const ACCEPTED         = 'till_accepted';
	const ACCEPTED_SECONDS = 3600;
	const FAILED_SECONDS   = 300;

	public static function instance() {
		$gateways = WC()->payment_gateways()->payment_gateways();
		return isset( $gateways['till'] ) ? $gateways['till'] : null;
	}

	public function client( $is_brief = false ) {
		return new Till_Client( $this->get_option( 'url' ), $this->get_option( 'api_key' ), $is_brief );
	}

	/** Shows the description at the classic checkout, with the accepted tokens. */
	public function payment_fields() {
		parent::payment_fields();
		$accepted = $this->accepted();
		if ( array() !== $accepted ) {
			echo '<p class="till-accepted">' . esc_html( implode( ', ', $accepted ) ) . '</p>';
		}
	}

	/** Returns the accepted tokens with their networks, such as "USDT (TRON)"; none while Till cannot be reached. */
	public function accepted() {
		$kept = get_transient( self::ACCEPTED );
		if ( is_array( $kept ) ) {
			return $kept;
		}
		$accepted = array();
		try {
			$client  = $this->client( true );
			$titles  = array_column( $client->networks(), 'title', 'id' );
			$options = array( array( 'tokenSymbol' => $this->get_option( 'token' ), 'network' => $this->get_option( 'network' ) ) );
			if ( ! $this->has_token() ) {
				$policy  = $client->payment_policy();
				$options = (array) $policy['paymentOptions'];
			}
			foreach ( $options as $option ) {
				$network    = $option['network'];
				$accepted[] = sprintf( '%s (%s)', $option['tokenSymbol'], isset( $titles[ $network ] ) ? $titles[ $network ] : $network );
			}
			set_transient( self::ACCEPTED, $accepted, self::ACCEPTED_SECONDS );
		} catch ( Till_Problem $problem ) {
			set_transient( self::ACCEPTED, $accepted, self::FAILED_SECONDS );
		}
		return $accepted;
	}

	/**
	 * Called by the checkout; creates an invoice or finds the one of an earlier click.
	 *
	 * @throws Exception With words for the customer: every checkout shows those, and the block of WooCommerce 8.2 no others.
	 */
	public function process_payment( $order_id ) {
		try {
			$invoice = Till_Store::change( $order_id, array( $this, 'invoice_for' ) );
		} catch ( Till_Problem $problem ) {
			wc_get_logger()->error( "Order $order_id: {$problem->problem}: {$problem->getMessage()}", array( 'source' => 'till' ) );
			$reason = 'unauthenticated' === $problem->problem ? __( 'Till does not know the API key of the settings.', 'till' ) : $problem->getMessage();
			/* translators: %s: reason */
			wc_get_order( $order_id )->add_order_note( sprintf( __( 'The payment with Till could not be started: %s', 'till' ), $reason ) );
			throw new Exception( __( 'The payment could not be started. Please try again, or choose another way to pay.', 'till' ) );
		}
		return array(
			'result'   => 'success',
			'redirect' => 'paid' === $invoice['status'] ? $this->get_return_url( wc_get_order( $order_id ) ) : $invoice['checkoutUrl'],
		);
	}

	/**
	 * Returns the invoice that the order waits for from now on. Webhooks of the order wait meanwhile.
	 *
	 * @throws Till_Problem
	 */
	public function invoice_for( WC_Order $order ) {
		$client  = $this->client();
		$attempt = max( 1, (int) $order->get_meta( Till_Order::ATTEMPT ) );
		$last    = self::current( $client, $order );
		if ( null !== $last ) {
			if ( 'paid' === $last['status'] ) {
				Till_Order::apply_invoice( $order, $last );
				return $last;
			}
			$is_usable = in_array( $last['status'], self::USABLE, true );
			if ( $is_usable && ( 'open' !== $last['status'] || ( Till_Money::asks_for( $order, $last ) && Till_Shop::owns( $last ) ) ) ) {
				return $last;
			}
			if ( $is_usable && Till_Shop::owns( $last ) ) {
				$client->cancel_invoice( $last['id'] );
			}
			++$attempt;
		}
		for ( $number = 1; ; ++$number, ++$attempt ) {
			try {
				$invoice = $client->create_invoice( $this->request_for( $order, $attempt ), self::key_of( $order, $attempt ) );
				break;
			} catch ( Till_Problem $problem ) {
				// The answer about an invoice was lost, and the settings or the language are others now: nobody has its page.
				$is_used = in_array( $problem->problem, array( 'external_id_conflict', 'idempotency_key_reused' ), true );
				if ( ! $is_used || self::NUMBERS_MAX === $number ) {
					throw $problem;
				}
			}
		}
		Till_Order::attach( $order, $invoice, $attempt );
		return $invoice;
	}

	/** Returns the order's current invoice; null without one, or if it belongs to an organization that the shop has left. */
	private static function current( Till_Client $client, WC_Order $order ) {
		$id = Till_Store::current( $order );
		try {
			return '' === $id ? null : $client->invoice( $id );
		} catch ( Till_Problem $problem ) {
			if ( 'not_found' === $problem->problem ) {
				return null;
			}
			throw $problem;
		}
	}

	private function request_for( WC_Order $order, $attempt ) {
		$number  = $order->get_order_number() . '-' . Till_Shop::id();
		$request = array(
			'amount'             => Till_Money::total_of( $order ),
			'settlementCurrency' => $order->get_currency(),
			// Unique in the organization. Its payer sees it, so that the description does not repeat the order's number.
			'externalId'         => 1 === $attempt ? $number : "$number-$attempt",
			'description'        => wp_specialchars_decode( (string) get_option( 'blogname' ), ENT_QUOTES ),
			'redirectUrl'        => $this->get_return_url( $order ),
			'expiresInSeconds'   => 60 * (int) $this->get_option( 'minutes' ),
			'metadata'           => Till_Shop::metadata() + array( 'orderId' => (string) $order->get_id() ),
		);
		if ( '' === $request['description'] ) {
			unset( $request['description'] );
		}
		if ( $this->has_token() ) {
			$request['tokenSymbol'] = $this->get_option( 'token' );
			$request['network']     = $this->get_option( 'network' );
		}
		return $request;
	}

	private function has_token() {
		return '' !== $this->get_option( 'token' ) && '' !== $this->get_option( 'network' );
	}

	/** Returns the Idempotency-Key of an order's invoice: two clicks create one. Another total is another invoice. */
	private static function key_of( WC_Order $order, $attempt ) {
		$parts = array( Till_Shop::id(), $order->get_id(), $order->get_order_key(), $attempt, Till_Money::total_of( $order ) );
		return 'woocommerce-' . hash( 'sha256', implode( "\n", $parts ) );
	}

	/** WooCommerce cancels unpaid orders after a while, but not before the deadline of their invoice. */
	public static function may_cancel( $may, $order ) {
		if ( ! Till_Order::is_by_till( $order ) ) {
			return $may;
		}
		return $may && time() > (int) $order->get_meta( Till_Order::EXPIRES );
	}
}
