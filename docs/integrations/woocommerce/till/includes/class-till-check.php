<?php
defined( 'ABSPATH' ) || exit;

/** Asks Till whether the settings work. */
class Till_Check {
	/** The permissions that the shop needs, all of which the scope `shop` has. */
	const PERMISSIONS = array( 'organization:read', 'networks:read', 'invoices:read', 'invoices:write', 'refunds:read' );
	/** Permissions with which a stolen key could do more than sell. */
	const EXCESSIVE = array( 'wallets:write', 'payments:decide', 'refunds:send', 'api-keys:write' );

	/** @var array<string,string> Faults, by the names of the settings. */
	public $errors = array();
	/** @var string[] Sentences about the connection. */
	public $facts = array();
	/** @var array<string,array<string,string>> Choices for settings; none while Till does not answer. */
	public $choices = array();

	private $settings;

	public function __construct( Till_Settings $settings ) {
		$this->settings = $settings;
		$this->check_minutes();
		$this->check_secret();
		$this->check_decimals();
		if ( ! $this->check_address() ) {
			return;
		}
		$client = $settings->client( true );
		try {
			$me = $client->me();
		} catch ( Till_Problem $problem ) {
			$this->explain( $problem );
			return;
		}
		/* translators: 1: name of an organization, 2: its id */
		$this->facts[] = sprintf( __( 'Connected to Till. Payments go to the organization %1$s (%2$s).', 'till' ), $me['organizationName'], $me['organizationId'] );
		$this->check_key( $me );
		try {
			$this->check_organization( $client, $me );
			$this->check_token( $client );
			$this->check_endpoint( $client, $me );
		} catch ( Till_Problem $problem ) {
			$this->explain( $problem );
		}
	}

	private function option( $name ) {
		return $this->settings->get_option( $name );
	}

	private function fail( $field, $text ) {
		if ( ! isset( $this->errors[ $field ] ) ) {
			$this->errors[ $field ] = $text;
		}
	}

	private function explain( Till_Problem $problem ) {
		switch ( $problem->problem ) {
			case 'unauthenticated':
				$this->fail( 'api_key', __( 'Till does not know this key: it was copied incompletely, revoked, or belongs to another Till.', 'till' ) );
				break;
			case 'forbidden':
				$this->fail( 'api_key', __( 'The key may not do what the shop needs. Create one with the scope shop.', 'till' ) );
				break;
			default:
				/* translators: %s: reason */
				$this->fail( 'url', sprintf( __( 'Till did not answer at this address: %s', 'till' ), $problem->getMessage() ) );
		}
	}

	/** Returns true if the address and the key are entered, so that Till can be asked. */
	private function check_address() {
		$url = $this->option( 'url' );
		if ( '' === $url ) {
			$this->fail( 'url', __( 'Enter the address of Till.', 'till' ) );
			return false;
		}
		$parts = wp_parse_url( $url );
		if ( ! isset( $parts['scheme'], $parts['host'] ) || ! in_array( $parts['scheme'], array( 'https', 'http' ), true ) ) {
			$this->fail( 'url', __( 'Enter an address that begins with https://.', 'till' ) );
			return false;
		}
		if ( 'http' === $parts['scheme'] && ! in_array( $parts['host'], array( 'localhost', '127.0.0.1', '[::1]' ), true ) ) {
			$this->facts[] = __( 'The address of Till begins with http://: everybody on the way can read the key. Use https://.', 'till' );
		}
		if ( '' === $this->option( 'api_key' ) ) {
			$this->fail( 'api_key', __( 'Enter a key with the scope shop.', 'till' ) );
			return false;
		}
		return true;
	}

	private function check_key( array $me ) {
		$missing = array_diff( self::PERMISSIONS, $me['permissions'] );
		if ( array() !== $missing ) {
			/* translators: %s: permissions */
			$this->fail( 'api_key', sprintf( __( 'The key lacks permissions: %s. Create one with the scope shop.', 'till' ), implode( ', ', $missing ) ) );
		}
		if ( array() !== array_intersect( self::EXCESSIVE, $me['permissions'] ) ) {
			$this->facts[] = __( 'The key may do more than sell. A key with the scope shop is enough, and safer if somebody steals it.', 'till' );
		}
		if ( 'active' !== $me['organizationStatus'] ) {
			$this->fail( 'api_key', __( 'The organization is suspended: Till creates no invoices for it. Ask the operator of Till.', 'till' ) );
		}
	}

	/** Till sends customers back to the shop only if the organization names its origin, or none. */
	private function check_organization( Till_Client $client, array $me ) {
		if ( ! in_array( 'organization:read', $me['permissions'], true ) ) {
			return;
		}
		$organization = $client->organization();
		$parts        = wp_parse_url( home_url() );
		$origin       = $parts['scheme'] . '://' . $parts['host'] . ( isset( $parts['port'] ) ? ":{$parts['port']}" : '' );
		if ( array() !== $organization['allowedOrigins'] && ! in_array( $origin, $organization['allowedOrigins'], true ) ) {
			/* translators: %s: origin of the shop */
			$this->fail( 'url', sprintf( __( 'The organization does not name %s among its origins, so that Till refuses the invoices of this shop. Add it with "till org origins".', 'till' ), $origin ) );
		}
	}

	private function check_token( Till_Client $client ) {
		$token    = $this->option( 'token' );
		$network  = $this->option( 'network' );
		$networks = array_column( $client->networks(), null, 'id' );
		$symbols  = array();
		foreach ( $networks as $each ) {
			foreach ( $each['tokens'] as $one ) {
				$symbols[ $one['symbol'] ] = $one['symbol'];
			}
		}
		$this->choices = array( 'token' => $symbols, 'network' => array_column( $networks, 'title', 'id' ) );
		if ( '' === $token && '' === $network ) {
			$policy = $client->payment_policy();
			if ( empty( $policy['paymentOptions'] ) ) {
				$this->fail( 'token', __( 'Choose a token and a network, or set the options of your payment policy with "till payments set-policy --payment-options". Without either, no payment can be started.', 'till' ) );
			}
		} elseif ( '' === $token || '' === $network ) {
			$this->fail( '' === $token ? 'token' : 'network', __( 'Choose both a token and a network, or neither.', 'till' ) );
		} elseif ( ! isset( $networks[ $network ] ) ) {
			$this->fail( 'network', __( 'This network is not enabled in Till.', 'till' ) );
		} elseif ( ! in_array( $token, array_column( $networks[ $network ]['tokens'], 'symbol' ), true ) ) {
			$this->fail( 'token', __( 'This network does not have the token.', 'till' ) );
		}
	}

	private function check_minutes() {
		$minutes = $this->option( 'minutes' );
		if ( ! ctype_digit( (string) $minutes ) || $minutes < Till_Settings::MINUTES_MIN || $minutes > Till_Settings::MINUTES_MAX ) {
			/* translators: 1: least number, 2: greatest number */
			$this->fail( 'minutes', sprintf( __( 'Enter a number from %1$d to %2$d.', 'till' ), Till_Settings::MINUTES_MIN, Till_Settings::MINUTES_MAX ) );
		}
	}

	private function check_decimals() {
		$currency = get_woocommerce_currency();
		if ( wc_get_price_decimals() > Till_Money::decimals( $currency ) ) {
			/* translators: 1: currency, 2: number */
			$this->facts[] = sprintf( __( 'Prices in %1$s have %2$d decimals, and your shop uses more: Till rounds totals. Change "Number of decimals" in WooCommerce\'s general settings.', 'till' ), $currency, Till_Money::decimals( $currency ) );
		}
	}

	private function check_secret() {
		$secret = $this->option( 'webhook_secret' );
		if ( '' === $secret ) {
			$this->fail( 'webhook_secret', __( 'Enter the secret that Till showed when the endpoint was created.', 'till' ) );
			return;
		}
		foreach ( preg_split( '/\s+/', $secret ) as $each ) {
			if ( ! preg_match( '#^whsec_[A-Za-z0-9+/]{32,}={0,2}$#', $each ) ) {
				$this->fail( 'webhook_secret', __( 'A secret begins with whsec_ and has at least 32 characters after that; separate two by a blank.', 'till' ) );
				return;
			}
		}
		$times = (array) get_option( Till_Receiver::OPTION, array() ) + array( 'accepted' => 0, 'refused' => 0 );
		if ( $times['refused'] > $times['accepted'] ) {
			$this->fail( 'webhook_secret', __( 'The last delivery was refused: it was not signed with this secret, or the clocks of the two servers differ by more than five minutes.', 'till' ) );
		} elseif ( 0 === $times['accepted'] ) {
			$this->facts[] = __( 'No delivery has arrived with this secret yet. "till webhook trigger" sends one.', 'till' );
		} else {
			/* translators: %s: duration, such as 2 hours */
			$this->facts[] = sprintf( __( 'The last delivery was accepted %s ago.', 'till' ), human_time_diff( $times['accepted'] ) );
		}
	}

	/** A key with the scope shop may not read endpoints: then the deliveries themselves show whether there is one. */
	private function check_endpoint( Till_Client $client, array $me ) {
		if ( ! in_array( 'webhooks:read', $me['permissions'], true ) ) {
			return;
		}
		$enabled = array();
		foreach ( $client->webhook_endpoints() as $endpoint ) {
			$enabled[ $endpoint['url'] ] = 'enabled' === $endpoint['status'];
		}
		$receiver = Till_Settings::receiver();
		if ( ! isset( $enabled[ $receiver ] ) ) {
			$this->fail( 'receiver', __( 'Till has no webhook endpoint with this address.', 'till' ) );
		} elseif ( ! $enabled[ $receiver ] ) {
			$this->fail( 'receiver', __( 'The webhook endpoint with this address is disabled in Till.', 'till' ) );
		}
	}
}
