"""Commands of ``holisticbias``, one file each: parse the arguments, then make one call."""
