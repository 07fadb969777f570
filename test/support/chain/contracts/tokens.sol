// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Tokens for the chain lab. None has a constructor or an initial value in storage, so that their code can be put at
/// any address: the lab puts it where the real token lives.
abstract contract Token {
    /// Slot 0: the lab writes balances straight into storage.
    mapping(address => uint256) public balanceOf;
    /// Slot 1: what a transfer costs in basis points, like the switch that the real USDT has and leaves at 0.
    uint256 public basisPointsRate;

    event Transfer(address indexed from, address indexed to, uint256 value);

    string public constant name = "Tether USD";
    string public constant symbol = "USDT";

    function decimals() external pure virtual returns (uint8);

    /// Anybody may mint: the log's sender is the zero address.
    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setFee(uint256 basisPoints) external {
        basisPointsRate = basisPoints;
    }

    /// Returns nothing, as the real USDT on Ethereum does.
    function transfer(address to, uint256 value) external {
        move(msg.sender, to, value);
    }

    /// Fails after its log was written, so that the log must vanish with the call.
    function transferAndFail(address to, uint256 value) external {
        move(msg.sender, to, value);
        revert("the call fails after its transfer");
    }

    function move(address from, address to, uint256 value) internal {
        uint256 fee = (value * basisPointsRate) / 10_000;
        require(balanceOf[from] >= value, "the balance is too small");
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        emit Transfer(from, to, value - fee);
        if (fee > 0) {
            balanceOf[address(this)] += fee;
            emit Transfer(from, address(this), fee);
        }
    }
}

contract UsdtLike is Token {
    function decimals() external pure override returns (uint8) {
        return 6;
    }
}

/// The same with 18 decimals, as USDT on BNB Smart Chain has.
contract UsdtLike18 is Token {
    function decimals() external pure override returns (uint8) {
        return 18;
    }
}

/// Looks like USDT in every log and call, and moves nothing.
contract FakeUsdt {
    event Transfer(address indexed from, address indexed to, uint256 value);

    string public constant name = "Tether USD";
    string public constant symbol = "USDT";

    function decimals() external pure returns (uint8) {
        return 6;
    }

    function transfer(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }
}

interface Payable {
    function transfer(address to, uint256 value) external;
}

/// Pays many in one transaction out of its own balance, as an exchange's withdrawals do.
contract MultiSender {
    function pay(address token, address[] calldata recipients, uint256[] calldata values) external {
        require(recipients.length == values.length, "as many recipients as values");
        for (uint256 index = 0; index < recipients.length; index++) {
            Payable(token).transfer(recipients[index], values[index]);
        }
    }
}
