<?php
defined( 'ABSPATH' ) || exit;

/** Tells this shop from others of the same organization, and from its own copies. */
class Till_Shop {
	/** The option with the shop's id, and a hash of the address for which it was made. */
	const OPTION = 'till_shop';

	/** Returns the shop's id. A shop that was copied to another address gets another one. */
	public static function id() {
		$id = self::stored();
		return null !== $id ? $id : Till_Lock::hold( 'till_lock_shop', array( __CLASS__, 'make' ) );
	}

	/** Makes the id, unless another process has just made it. */
	public static function make() {
		wp_cache_delete( self::OPTION, 'options' );
		wp_cache_delete( 'notoptions', 'options' );
		$id = self::stored();
		if ( null === $id ) {
			$id = strtolower( wp_generate_password( 6, false ) );
			update_option( self::OPTION, array( 'id' => $id, 'home' => self::home() ), false );
		}
		return $id;
	}

	/** Returns the metadata by which an invoice is recognized. */
	public static function metadata() {
		return array( 'shop' => home_url(), 'shopId' => self::id() );
	}

	/** Returns true if the invoice was made by this shop, and not by the one of which it is a copy. */
	public static function owns( array $invoice ) {
		$metadata = $invoice['metadata'];
		if ( isset( $metadata['shopId'] ) ) {
			return self::id() === $metadata['shopId'];
		}
		return isset( $metadata['shop'] ) && home_url() === $metadata['shop'];
	}

	private static function stored() {
		$shop = get_option( self::OPTION );
		return isset( $shop['id'], $shop['home'] ) && self::home() === $shop['home'] ? $shop['id'] : null;
	}

	/** The option, because plug-ins for languages change home_url(). */
	private static function home() {
		return hash( 'sha256', preg_replace( '#^https?://#', '', (string) get_option( 'home' ) ) );
	}
}
