<?php
defined( 'ABSPATH' ) || exit;

/** A refusal of Till, or a failure to reach it. */
class Till_Problem extends Exception {
	/** @var string The problem's code, such as `rate_limited`; `unreachable` without an answer of Till. */
	public $problem;

	public function __construct( $problem, $message ) {
		parent::__construct( $message );
		$this->problem = $problem;
	}
}

/** The calls to Till's API that the shop needs. */
class Till_Client {
	/** Seconds until a call is given up; the customer waits for it. */
	const TIMEOUT_SECONDS = 15;
	/** The same for a call without which a page can be shown. */
	const BRIEF_SECONDS = 5;
	/** Attempts of a call. Repeating one is safe, because every POST has an Idempotency-Key. */
	const ATTEMPTS = 2;

	private $url;
	private $key;
	private $is_brief;
	private $me;

	/**
	 * @param string $url      Till's address.
	 * @param string $key      The API key.
	 * @param bool   $is_brief True for one short attempt of each call.
	 */
	public function __construct( $url, $key, $is_brief = false ) {
		$this->url      = rtrim( $url, '/' ) . '/v1';
		$this->key      = $key;
		$this->is_brief = $is_brief;
	}

	/** Returns the organization to which the key belongs, with the key's permissions. */
	public function me() {
		if ( null === $this->me ) {
			$me       = $this->call( 'GET', '/me' );
			$this->me = $me['organizations'][0];
		}
		return $this->me;
	}

	public function networks() {
		$list = $this->call( 'GET', '/networks' );
		return $list['data'];
	}

	public function organization() {
		return $this->call( 'GET', $this->path( '' ) );
	}

	public function payment_policy() {
		return $this->call( 'GET', $this->path( '/payment-policy' ) );
	}

	public function webhook_endpoints() {
		$list = $this->call( 'GET', $this->path( '/webhook-endpoints?limit=100' ) );
		return $list['data'];
	}

	public function refunds( $invoice_id ) {
		$list = $this->call( 'GET', $this->path( "/refunds?invoiceId=$invoice_id" ) );
		return $list['data'];
	}

	public function create_invoice( array $invoice, $idempotency_key ) {
		return $this->call( 'POST', $this->path( '/invoices' ), $invoice, $idempotency_key );
	}

	public function invoice( $id ) {
		return $this->call( 'GET', $this->path( "/invoices/$id" ) );
	}

	public function cancel_invoice( $id ) {
		return $this->call( 'POST', $this->path( "/invoices/$id/cancel" ), null, "cancel-$id" );
	}

	private function path( $rest ) {
		$me = $this->me();
		return "/organizations/{$me['organizationId']}$rest";
	}

	/** @throws Till_Problem */
	private function call( $method, $path, $body = null, $idempotency_key = null ) {
		$headers = array(
			'Accept'        => 'application/json',
			'X-Service-Key' => $this->key,
		);
		if ( null !== $idempotency_key ) {
			$headers['Idempotency-Key'] = $idempotency_key;
		}
		$arguments = array(
			'method'      => $method,
			'headers'     => $headers,
			'timeout'     => $this->is_brief ? self::BRIEF_SECONDS : self::TIMEOUT_SECONDS,
			// The key would be sent to the other host.
			'redirection' => 0,
		);
		if ( null !== $body ) {
			$arguments['headers']['Content-Type'] = 'application/json';
			$arguments['body']                    = wp_json_encode( $body );
		}
		$attempts = $this->is_brief ? 1 : self::ATTEMPTS;
		for ( $attempt = 1; ; $attempt++ ) {
			$response = wp_remote_request( $this->url . $path, $arguments );
			$failed   = is_wp_error( $response );
			$status   = $failed ? 0 : (int) wp_remote_retrieve_response_code( $response );
			if ( $attempt < $attempts && ( $failed || $status >= 500 ) ) {
				continue;
			}
			break;
		}
		if ( $failed ) {
			throw new Till_Problem( 'unreachable', $response->get_error_message() );
		}
		$answer = json_decode( wp_remote_retrieve_body( $response ), true );
		if ( $status >= 200 && $status < 300 && is_array( $answer ) ) {
			return $answer;
		}
		if ( isset( $answer['code'] ) ) {
			throw new Till_Problem( $answer['code'], isset( $answer['detail'] ) ? $answer['detail'] : $answer['title'] );
		}
		throw new Till_Problem( 'unreachable', "The answer $status is not from Till." );
	}
}
