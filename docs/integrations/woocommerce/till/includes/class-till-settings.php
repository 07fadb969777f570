<?php
defined( 'ABSPATH' ) || exit;

/** The settings of the payment method, and the page on which they are entered. */
abstract class Till_Settings extends WC_Payment_Gateway {
	/** The limits of an invoice's time to pay, in minutes. */
	const MINUTES_MIN = 5;
	const MINUTES_MAX = 43200;

	public function __construct() {
		$this->id                 = 'till';
		$this->method_title       = __( 'Till', 'till' );
		$this->method_description = __( 'Crypto payments into your own wallet.', 'till' );
		$this->has_fields         = true;
		// Till moves no money: refunds are sent from your wallet.
		$this->supports = array( 'products' );
		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		add_action( 'woocommerce_update_options_payment_gateways_till', array( $this, 'process_admin_options' ) );
	}

	/** Returns the address of the settings page. */
	public static function address() {
		return admin_url( 'admin.php?page=wc-settings&tab=checkout&section=till' );
	}

	/** Returns the address to which Till delivers webhooks. */
	public static function receiver() {
		return home_url( '/?wc-api=till' );
	}

	public function init_form_fields() {
		$text              = static function ( $title, $default, $description, $type = 'text' ) {
			return compact( 'title', 'default', 'description', 'type' );
		};
		$group             = static function ( $title ) {
			return array( 'title' => $title, 'type' => 'title', 'description' => '' );
		};
		$this->form_fields = array(
			'checkout'       => $group( __( 'At the checkout', 'till' ) ),
			'enabled'        => array(
				'title'   => __( 'Enable', 'till' ),
				'type'    => 'checkbox',
				'label'   => __( 'Offer payments by Till', 'till' ),
				'default' => 'no',
			),
			'title'          => $text( __( 'Title', 'till' ), __( 'Crypto', 'till' ), __( 'Shown at the checkout.', 'till' ) ),
			'description'    => $text( __( 'Description', 'till' ), __( 'You pay from your wallet on the next page.', 'till' ), __( 'Shown with the accepted tokens.', 'till' ) ),
			'connection'     => $group( __( 'Connection to Till', 'till' ) ),
			'url'            => $text( __( 'Address of Till', 'till' ), '', __( 'Such as https://pay.example.com', 'till' ) ),
			'api_key'        => $text( __( 'API key', 'till' ), '', __( 'With the scope shop.', 'till' ), 'password' ),
			'webhooks'       => $group( __( 'Webhooks', 'till' ) ),
			'receiver'       => $text( __( 'Address of the receiver', 'till' ), '', __( 'Create a webhook endpoint with this address in Till.', 'till' ), 'receiver' ),
			'webhook_secret' => $text( __( 'Webhook secret', 'till' ), '', __( 'The secret of that endpoint. Without it, orders are updated only when customers return.', 'till' ), 'password' ),
			'payment'        => $group( __( 'Payment', 'till' ) ),
			'token'          => $text( __( 'Token', 'till' ), '', __( 'Such as USDT, together with the network. Empty: the options of your payment policy.', 'till' ) ),
			'network'        => $text( __( 'Network', 'till' ), '', __( 'Such as tron.', 'till' ) ),
			'minutes'        => $text( __( 'Time to pay, in minutes', 'till' ), '60', '', 'number' ),
		);
	}

	public function is_available() {
		return parent::is_available() && ! $this->needs_setup();
	}

	/** True while the payment method cannot be enabled in WooCommerce's list. */
	public function needs_setup() {
		return '' === $this->get_option( 'url' ) || '' === $this->get_option( 'api_key' );
	}

	public function process_admin_options() {
		$before = $this->get_option( 'webhook_secret' );
		$saved  = parent::process_admin_options();
		delete_transient( Till_Gateway::ACCEPTED );
		if ( $this->get_option( 'webhook_secret' ) !== $before ) {
			delete_option( Till_Receiver::OPTION );
		}
		return $saved;
	}

	/** Shows the settings with the answers of Till, which is asked each time, also after they were saved. */
	public function admin_options() {
		$check = new Till_Check( $this );
		foreach ( $check->errors as $field => $error ) {
			$shown = '<strong class="till-error" style="color:#b32d2e">' . esc_html( $error ) . '</strong>';
			$this->form_fields[ $field ]['description'] = $shown . '<br>' . $this->form_fields[ $field ]['description'];
		}
		foreach ( $check->choices as $field => $options ) {
			$chosen = $this->get_option( $field );
			$this->form_fields[ $field ]['type']    = 'select';
			$this->form_fields[ $field ]['options'] = array( '' => __( 'By the payment policy', 'till' ) ) + $options + array( $chosen => $chosen );
		}
		parent::admin_options();
		if ( array() !== $check->errors ) {
			echo '<div class="notice notice-error inline"><p>' . esc_html__( 'Some settings do not work yet: see the fields.', 'till' ) . '</p></div>';
		}
		foreach ( $check->facts as $fact ) {
			echo '<div class="notice notice-info inline"><p>' . esc_html( $fact ) . '</p></div>';
		}
		$manual = rtrim( $this->get_option( 'url' ), '/' ) . '/docs/integrations/woocommerce';
		if ( '' !== $this->get_option( 'url' ) ) {
			echo '<p><a href="' . esc_url( $manual ) . '" target="_blank" rel="noopener">' . esc_html__( 'Manual', 'till' ) . '</a></p>';
		}
	}

	/** Shows the receiver's address, with a button that copies it. */
	public function generate_receiver_html( $key, $data ) {
		// Without https, browsers only let the person copy what is selected.
		$copy = "this.previousElementSibling.select();navigator.clipboard?navigator.clipboard.writeText(this.previousElementSibling.value):document.execCommand('copy');";
		return '<tr valign="top"><th scope="row" class="titledesc"><label for="till-receiver">' . esc_html( $data['title'] ) . '</label></th><td class="forminp">'
			. '<input type="text" class="regular-input" id="till-receiver" readonly value="' . esc_attr( self::receiver() ) . '"> '
			. '<button type="button" class="button" onclick="' . esc_attr( $copy ) . '">' . esc_html__( 'Copy', 'till' ) . '</button>'
			. $this->get_description_html( $data + array( 'desc_tip' => false ) ) . '</td></tr>';
	}

	/** Shows a secret as a field that keeps it while it is left empty, so that the page does not contain it. */
	public function generate_password_html( $key, $data ) {
		$value = $this->get_option( $key );
		if ( '' !== $value ) {
			$data['placeholder'] = __( 'Unchanged', 'till' );
		}
		$data['custom_attributes'] = array( 'autocomplete' => 'new-password' );
		$this->settings[ $key ]    = '';
		$html                      = parent::generate_password_html( $key, $data );
		$this->settings[ $key ]    = $value;
		return $html;
	}

	public function validate_password_field( $key, $value ) {
		$entered = parent::validate_password_field( $key, $value );
		return '' === $entered ? $this->get_option( $key ) : $entered;
	}

	/** WooCommerce's REST API tells the settings to whoever has a key of the shop, also one that may only read. */
	public static function without_secrets( $response, $gateway ) {
		$data = $response->get_data();
		if ( 'till' !== $gateway->id || empty( $data['settings'] ) ) {
			return $response;
		}
		foreach ( $data['settings'] as $name => $setting ) {
			if ( 'password' === $setting['type'] ) {
				$data['settings'][ $name ]['value'] = '';
			}
		}
		$response->set_data( $data );
		return $response;
	}

	/** The receiver's address is shown, and not a setting. */
	public function validate_receiver_field() {
		return '';
	}
}
