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
	/** Attempts of a call. Repeating one is safe, because every POST has an Idempotency-Key. */
	const ATTEMPTS = 2;

	private $url;
	private $key;

	public function __construct( $url, $key ) {
		$this->url = rtrim( $url, '/' ) . '/v1';
		$this->key = $key;
	}

	/** Returns the id of the organization to which the key belongs. */
	public function organization() {
		$me = $this->call( 'GET', '/me' );
		return $me['organizations'][0]['organizationId'];
	}

	public function create_invoice( $organization, array $invoice, $idempotency_key ) {
		return $this->call( 'POST', "/organizations/$organization/invoices", $invoice, $idempotency_key );
	}

	public function invoice( $organization, $id ) {
		return $this->call( 'GET', "/organizations/$organization/invoices/$id" );
	}

	public function cancel_invoice( $organization, $id ) {
		return $this->call( 'POST', "/organizations/$organization/invoices/$id/cancel", null, "cancel-$id" );
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
			'timeout'     => self::TIMEOUT_SECONDS,
			// The key would be sent to the other host.
			'redirection' => 0,
		);
		if ( null !== $body ) {
			$arguments['headers']['Content-Type'] = 'application/json';
			$arguments['body']                    = wp_json_encode( $body );
		}
		for ( $attempt = 1; ; $attempt++ ) {
			$response = wp_remote_request( $this->url . $path, $arguments );
			$failed   = is_wp_error( $response );
			$status   = $failed ? 0 : (int) wp_remote_retrieve_response_code( $response );
			if ( $attempt < self::ATTEMPTS && ( $failed || $status >= 500 ) ) {
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
